import path from 'node:path';
import type { AgentClient } from '../clients/client.ts';
import type { Files } from '../model/world.ts';

export interface SubagentSign {
  sinceMs: number;
  lastActivityMs: number;
  finished: boolean;
}

const followedMax = 200;
const metaBytesMax = 64 * 1024;

/** The running subagents of one session, by the growth of their own records. */
export class SubagentWatch {
  readonly #client: AgentClient;
  readonly #files: Files;
  readonly #finished = new Set<string>();

  constructor(client: AgentClient, files: Files) {
    this.#client = client;
    this.#files = files;
  }

  poll(transcript: string, ids: Iterable<{ id: string; sinceMs: number }>): Map<string, SubagentSign> {
    const signs = new Map<string, SubagentSign>();
    const folder = this.#client.subagentFolder(transcript);
    for (const { id, sinceMs } of ids) {
      // The id becomes part of a path.
      if (signs.size >= followedMax || !/^[\w-]{1,80}$/.test(id)) continue;
      const files = this.#client.subagentFiles(id);
      const info = this.#files.info(path.join(folder, files.transcript));
      if (!this.#finished.has(id)) {
        const meta = this.#files.readSmall(path.join(folder, files.meta), metaBytesMax);
        if (meta.ok && this.#client.isSubagentFinished(meta.text)) this.#finished.add(id);
      }
      const lastActivityMs = info?.kind === 'file' ? Math.max(sinceMs, info.mtimeMs) : sinceMs;
      signs.set(id, { sinceMs, lastActivityMs, finished: this.#finished.has(id) });
    }
    return signs;
  }
}
