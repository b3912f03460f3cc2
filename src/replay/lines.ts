import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';

const lineBytesMax = 16 * 1024 * 1024;
const chunkBytes = 1024 * 1024;
/** Read between two looks at the rest of the world, such as a closed pipe. */
const breathBytes = 16 * chunkBytes;

/** Where lines come from. */
export interface LineSource {
  /** Some bytes once more, by their place in the file; null: they cannot be had again. */
  again(from: number, to: number): Buffer | null;
}

/** What to do with the lines of a file. */
export interface LineTaker {
  /** False: no more of them. The bytes may be other ones afterwards. `source`: null where nothing is read twice. */
  line(bytes: Buffer, at: number, source: LineSource | null): boolean;
  /** Bytes of the file read since the last time. */
  read(bytes: number): void;
  /** Nothing comes any more; the source is still there. */
  end(): void;
}

/**
 * The lines of a file, plain or gzipped, in big pieces. The memory it takes does not grow with the file; a line
 * that is too long is left out and taken as an empty one. Gives the count of those.
 */
export async function eachLine(file: string, taker: LineTaker): Promise<number> {
  return file.endsWith('.gz') ? readPacked(file, taker) : readPlain(file, taker);
}

/** Without the stream: it copies every byte twice. */
async function readPlain(file: string, taker: LineTaker): Promise<number> {
  const handle = openSync(file, 'r');
  const source = new OpenFile(handle);
  const cutter = new LineCutter(taker, source);
  try {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    let sinceBreath = 0;
    while (true) {
      const bytes = readSync(handle, chunk, 0, chunkBytes, null);
      if (bytes === 0) break;
      taker.read(bytes);
      if (!cutter.take(chunk.subarray(0, bytes))) return cutter.oversized;
      sinceBreath += bytes;
      if (sinceBreath >= breathBytes) {
        sinceBreath = 0;
        await breathe();
      }
    }
    cutter.end();
    taker.end();
    return cutter.oversized;
  } finally {
    source.isOpen = false;
    closeSync(handle);
  }
}

class OpenFile implements LineSource {
  isOpen = true;
  readonly #handle: number;

  constructor(handle: number) {
    this.#handle = handle;
  }

  again(from: number, to: number): Buffer | null {
    if (!this.isOpen) return null;
    const bytes = Buffer.allocUnsafe(to - from);
    try {
      return readSync(this.#handle, bytes, 0, bytes.length, from) === bytes.length ? bytes : null;
    } catch {
      return null;
    }
  }
}

async function readPacked(file: string, taker: LineTaker): Promise<number> {
  const cutter = new LineCutter(taker, null);
  const source = createReadStream(file);
  const bytes = source.pipe(createGunzip());
  // A pipe does not carry errors on.
  source.on('error', (error) => bytes.destroy(error));
  source.on('data', (chunk) => taker.read(chunk.length));
  for await (const chunk of bytes) {
    if (!cutter.take(chunk as Buffer)) return cutter.oversized;
  }
  cutter.end();
  taker.end();
  return cutter.oversized;
}

const newline = 10;

class LineCutter {
  oversized = 0;
  readonly #taker: LineTaker;
  readonly #source: LineSource | null;
  /** Where the chunk begins that comes next. */
  #at = 0;
  /** The beginning of a line whose end is yet to come. */
  #rest: Buffer[] = [];
  #restBytes = 0;
  #restAt = 0;
  #skipping = false;

  constructor(taker: LineTaker, source: LineSource | null) {
    this.#taker = taker;
    this.#source = source;
  }

  /** False: no more is wanted. The chunk may be used again afterwards. */
  take(chunk: Buffer): boolean {
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      const part = chunk.subarray(from, end);
      const isRest = this.#restBytes > 0 || this.#skipping;
      const at = isRest ? this.#restAt : this.#at + from;
      if (!this.#taker.line(isRest ? this.#joined(part) : part, at, this.#source)) return false;
      from = end + 1;
    }
    if (this.#restBytes === 0 && !this.#skipping) this.#restAt = this.#at + from;
    if (from < chunk.length) this.#keep(chunk.subarray(from));
    this.#at += chunk.length;
    return true;
  }

  end(): void {
    if (this.#restBytes > 0) this.#taker.line(this.#joined(Buffer.alloc(0)), this.#restAt, this.#source);
  }

  #joined(last: Buffer): Buffer {
    this.#keep(last);
    const line = this.#skipping ? Buffer.alloc(0) : Buffer.concat(this.#rest, this.#restBytes);
    this.#rest = [];
    this.#restBytes = 0;
    this.#skipping = false;
    return line;
  }

  #keep(bytes: Buffer): void {
    if (this.#skipping) return;
    this.#rest.push(Buffer.from(bytes));
    this.#restBytes += bytes.length;
    if (this.#restBytes <= lineBytesMax) return;
    this.oversized += 1;
    this.#skipping = true;
    this.#rest = [];
    this.#restBytes = 0;
  }
}
