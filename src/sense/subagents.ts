import path from 'node:path';
import type { RecordSource, Sources, SubagentSource } from '../clients/client.ts';
import type { Counters } from '../model/counters.ts';
import { isEmpty, type UntrustedText, untrusted } from '../model/text.ts';
import type { Files } from '../model/world.ts';
import { LineFollower } from './line-follower.ts';

export interface SubagentSign {
  lastActivityMs: number;
  /** The tool it runs now, by its own record. */
  tool: string | null;
  finished: boolean;
  /** Its record ends with an error of the service. */
  error: UntrustedText | null;
}

interface Followed {
  lines: LineFollower;
  lastActivityMs: number;
  calls: Map<string, string>;
  error: UntrustedText | null;
}

const followedMax = 200;
const metaBytesMax = 64 * 1024;

/** null: the client keeps no records of them. */
export function subagentsOf({ subagents, record }: Sources, files: Files, counters: Counters): SubagentWatch | null {
  return subagents === undefined || record === undefined ? null : new SubagentWatch(subagents, record, files, counters);
}

/** The subagents of one session, by their own records. Their progress is their parent's activity. */
export class SubagentWatch {
  readonly #source: SubagentSource;
  readonly #record: RecordSource;
  readonly #files: Files;
  readonly #counters: Counters;
  readonly #followed = new Map<string, Followed>();
  readonly #finished = new Set<string>();

  constructor(source: SubagentSource, record: RecordSource, files: Files, counters: Counters) {
    this.#source = source;
    this.#record = record;
    this.#files = files;
    this.#counters = counters;
  }

  /** `ids`: those that run in the background. With `all` also those whose ids the parent does not know yet. */
  poll(transcript: string, ids: readonly string[], all: boolean): Map<string, SubagentSign> {
    const folder = this.#source.folder(transcript);
    const wanted = new Set(all ? [...ids, ...this.#listed(folder)] : ids);
    for (const id of this.#followed.keys()) if (!wanted.has(id)) this.#followed.delete(id);
    const signs = new Map<string, SubagentSign>();
    for (const id of wanted) {
      // The id becomes part of a path.
      if (signs.size < followedMax && /^[\w-]{1,80}$/.test(id)) signs.set(id, this.#look(folder, id));
    }
    return signs;
  }

  #listed(folder: string): string[] {
    const names = this.#files.list(folder) ?? [];
    return names.flatMap((name) => this.#source.idOf(name) ?? []).filter((id) => !this.#finished.has(id));
  }

  #look(folder: string, id: string): SubagentSign {
    const files = this.#source.files(id);
    if (!this.#finished.has(id)) {
      const meta = this.#files.readSmall(path.join(folder, files.meta), metaBytesMax);
      if (meta.ok && this.#source.isFinished(meta.text)) this.#finished.add(id);
    }
    const followed = this.#followed.get(id) ?? this.#follow(path.join(folder, files.record));
    this.#followed.set(id, followed);
    this.#read(followed);
    const tool = [...followed.calls.values()].at(-1) ?? null;
    const { lastActivityMs, error } = followed;
    return { lastActivityMs, tool, finished: this.#finished.has(id), error };
  }

  #follow(file: string): Followed {
    return { lines: new LineFollower(this.#files, file), lastActivityMs: 0, calls: new Map(), error: null };
  }

  #read(followed: Followed): void {
    const batch = followed.lines.poll();
    if (batch.restarted) followed.calls.clear();
    if (batch.failure !== null && batch.failure !== 'missing') this.#counters.add(`subagent.${batch.failure}`);
    for (const line of batch.lines) {
      const parsed = this.#record.parseLine(line.text, String(line.offset));
      if (!parsed.ok) this.#counters.add('subagent.invalid-line');
      else
        for (const { fact, atMs } of parsed.events) {
          if (!Number.isNaN(atMs)) followed.lastActivityMs = Math.max(followed.lastActivityMs, atMs);
          followed.error = fact.kind !== 'api-error' ? null : isEmpty(fact.text) ? untrusted(fact.error) : fact.text;
          if (fact.kind === 'tool-call') followed.calls.set(fact.id, fact.tool);
          else if (fact.kind === 'tool-result') followed.calls.delete(fact.id);
        }
    }
  }
}
