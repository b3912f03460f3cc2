import type { FileInfo, Files, ReadFailure } from '../model/world.ts';

interface FollowedLine {
  text: string;
  /** Where the line begins in the file. */
  offset: number;
}

export interface FollowBatch {
  lines: FollowedLine[];
  /** The file was cut or replaced: what came before no longer counts. */
  restarted: boolean;
  /** Lines longer than the limit, passed over. */
  oversized: number;
  more: boolean;
  failure: ReadFailure | null;
}

export const followLimits = {
  /** One poll reads at most this much, so that a long backlog cannot hold up the other agents. */
  pollBytesMax: 2 * 1024 * 1024,
  /** A line with a pasted picture has some megabytes; beyond this nothing is a record. */
  lineBytesMax: 16 * 1024 * 1024,
  /** Of a longer file only the end is read: it holds the state. */
  historyBytesMax: 64 * 1024 * 1024,
};

const newline = 0x0a;
const anchorBytes = 64;

/** Follows one growing file line by line, through truncation, replacement, half-written and endless lines. */
export class LineFollower {
  readonly path: string;
  readonly #files: Files;
  readonly #limits: typeof followLimits;
  #inode: string | null = null;
  #size = 0;
  #mtimeMs = 0;
  #bornMs = 0;
  /** Since the last read something else, or nothing, was in its place. */
  #wasGone = false;
  #offset = 0;
  /** The bytes before the offset: another file can get the same inode, and the same file other content. */
  #anchor: Buffer = Buffer.alloc(0);
  /** The unfinished last line. */
  #carry: Buffer[] = [];
  #carryBytes = 0;
  #skipping = false;

  constructor(files: Files, path: string, limits = followLimits) {
    this.#files = files;
    this.path = path;
    this.#limits = limits;
  }

  /** Which file is being read; null before the first read. */
  get inode(): string | null {
    return this.#inode;
  }

  /** Its length at the last read. */
  get size(): number {
    return this.#size;
  }

  /** Would a read bring nothing? */
  isReadUp(): boolean {
    return this.#isReadUp(this.#files.info(this.path));
  }

  #isReadUp(info: FileInfo | null): boolean {
    return (
      !this.#wasGone &&
      info !== null &&
      info.inode === this.#inode &&
      info.size === this.#size &&
      info.mtimeMs === this.#mtimeMs &&
      this.#offset >= info.size
    );
  }

  poll(): FollowBatch {
    const batch: FollowBatch = { lines: [], restarted: false, oversized: 0, more: false, failure: null };
    const info = this.#files.info(this.path);
    if (this.#isReadUp(info)) return batch;
    // What stands in the file's place counts only once it could be read: a link or a folder there replaces nothing.
    let read = this.#read(info?.size ?? 0);
    if (read.ok && this.#inode !== null && !this.#continues(read.bytes, read.info)) {
      this.#restart();
      batch.restarted = true;
      read = this.#read(read.info.size);
    }
    if (!read.ok) {
      this.#wasGone ||= read.reason === 'missing' || read.reason === 'not-regular';
      batch.failure = read.reason;
      return batch;
    }
    this.#inode = read.info.inode;
    this.#size = read.info.size;
    this.#mtimeMs = read.info.mtimeMs;
    this.#bornMs = read.info.bornMs;
    this.#wasGone = false;
    const bytes = read.bytes.subarray(this.#anchor.length);
    this.#take(bytes, batch);
    this.#anchor = Buffer.concat([this.#anchor, bytes.subarray(-anchorBytes)]).subarray(-anchorBytes);
    batch.more = this.#offset < read.info.size && bytes.length > 0;
    return batch;
  }

  #read(size: number): ReturnType<Files['readAt']> {
    if (this.#inode === null) {
      this.#offset = Math.max(0, size - this.#limits.historyBytesMax);
      this.#skipping = this.#offset > 0;
    }
    const before = this.#anchor.length;
    return this.#files.readAt(this.path, this.#offset - before, before + this.#limits.pollBytesMax);
  }

  #continues(bytes: Buffer, info: FileInfo): boolean {
    if (info.inode !== this.#inode || info.size < this.#offset) return false;
    // Away and back it is the same file; removed and made anew it is another one, whatever its last bytes are.
    if (this.#wasGone && info.bornMs !== this.#bornMs) return false;
    return bytes.subarray(0, this.#anchor.length).equals(this.#anchor);
  }

  #restart(): void {
    this.#inode = null;
    this.#offset = 0;
    this.#anchor = Buffer.alloc(0);
    this.#drop();
    this.#skipping = false;
  }

  #drop(): void {
    this.#carry = [];
    this.#carryBytes = 0;
  }

  #take(bytes: Buffer, batch: FollowBatch): void {
    let from = 0;
    for (;;) {
      const end = bytes.indexOf(newline, from);
      if (end < 0) break;
      this.#finish(bytes.subarray(from, end), this.#offset + from, batch);
      from = end + 1;
    }
    const rest = bytes.subarray(from);
    this.#offset += bytes.length;
    if (this.#skipping || rest.length === 0) return;
    if (this.#carryBytes + rest.length > this.#limits.lineBytesMax) {
      this.#drop();
      this.#skipping = true;
      batch.oversized += 1;
      return;
    }
    // A copy: the slice would keep the whole chunk alive.
    this.#carry.push(Buffer.from(rest));
    this.#carryBytes += rest.length;
  }

  #finish(tail: Buffer, tailOffset: number, batch: FollowBatch): void {
    if (this.#skipping) {
      this.#skipping = false;
      return;
    }
    const offset = tailOffset - this.#carryBytes;
    const whole = this.#carry.length === 0 ? tail : Buffer.concat([...this.#carry, tail]);
    this.#drop();
    if (whole.length > this.#limits.lineBytesMax) batch.oversized += 1;
    else if (whole.length > 0) batch.lines.push({ text: whole.toString('utf8'), offset });
  }
}
