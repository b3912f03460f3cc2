import type { TypedHistorySource } from '../clients/client.ts';
import { keepNewest } from '../model/keep-newest.ts';
import type { Files } from '../model/world.ts';
import { followLimits, LineFollower } from './line-follower.ts';

/** What matters was typed a moment ago. */
const limits = { ...followLimits, historyBytesMax: 64 * 1024 };
const sessionsMax = 1_000;
const shareMs = 20;

/** The last command typed into each session, by the client's own history of a config directory. */
export class TypedCommands {
  readonly #files: Files;
  readonly #folders = new Map<
    string,
    { lines: LineFollower; last: Map<string, { command: string; atMs: number }>; readMs: number }
  >();

  constructor(files: Files) {
    this.#files = files;
  }

  /** `nowMs`: agents that are looked at together share one look at the file. */
  last(
    history: TypedHistorySource,
    configDir: string,
    sessionId: string,
    nowMs: number,
  ): { command: string; atMs: number } | null {
    const file = history.file(configDir);
    let folder = this.#folders.get(file);
    if (folder === undefined) {
      folder = {
        lines: new LineFollower(this.#files, file, limits),
        last: new Map(),
        readMs: 0,
      };
      this.#folders.set(file, folder);
    }
    const fresh = Math.abs(nowMs - folder.readMs) < shareMs;
    if (!fresh) folder.readMs = nowMs;
    for (const line of fresh ? [] : folder.lines.poll().lines) {
      const typed = history.parseLine(line.text);
      if (typed === null) continue;
      keepNewest(folder.last, typed.sessionId, { command: typed.command, atMs: typed.atMs }, sessionsMax);
    }
    return folder.last.get(sessionId) ?? null;
  }
}
