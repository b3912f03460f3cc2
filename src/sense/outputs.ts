import { type UntrustedText, untrusted } from '../model/text.ts';
import type { FileInfo, Files } from '../model/world.ts';

export interface OutputGlance {
  /** The same as long as nothing is written; null: it cannot be looked at. */
  stamp: string | null;
  changedMs: number | null;
  problem: OutputProblem | null;
}

export type OutputProblem = 'missing' | 'link' | 'not-regular' | 'foreign';

const tailBytesMax = 4_096;

/** Output files of spawns: how they grow, and how they end. Looked at from outside; nothing is opened for that. */
export class Outputs {
  readonly #files: Files;
  readonly #uid: number;

  constructor(files: Files, uid: number) {
    this.#files = files;
    this.#uid = uid;
  }

  glance(path: string): OutputGlance {
    const info = this.#files.info(path);
    const problem = info === null ? 'missing' : this.#problem(info);
    if (info === null || problem !== null) return { stamp: null, changedMs: null, problem };
    return { stamp: `${info.inode}:${info.size}:${info.mtimeMs}`, changedMs: info.mtimeMs, problem: null };
  }

  /** Its last lines, where it can be read. */
  tail(path: string): UntrustedText | null {
    const info = this.#files.info(path);
    if (info === null || this.#problem(info) !== null) return null;
    const read = this.#files.readAt(path, Math.max(0, info.size - tailBytesMax), tailBytesMax);
    return read.ok ? untrusted(read.bytes.toString('utf8')) : null;
  }

  #problem(info: FileInfo): OutputProblem | null {
    if (info.kind === 'symlink') return 'link';
    if (info.kind !== 'file') return 'not-regular';
    return info.uid === this.#uid ? null : 'foreign';
  }
}
