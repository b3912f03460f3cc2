import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';

const lineBytesMax = 16 * 1024 * 1024;
const chunkBytes = 1024 * 1024;
/** Read between two looks at the rest of the world, such as a closed pipe. */
const breathBytes = 16 * chunkBytes;

/** What to do with the lines of a file. */
export interface LineTaker {
  /** False: no more of them. The bytes may be other ones afterwards. */
  line(bytes: Buffer): boolean;
  /** Bytes of the file read since the last time. */
  read(bytes: number): void;
}

/**
 * The lines of a file, plain or gzipped, in big pieces. The memory it takes does not grow with the file; a line
 * that is too long is left out and taken as an empty one. Gives the count of those.
 */
export async function eachLine(file: string, taker: LineTaker): Promise<number> {
  const cutter = new LineCutter(taker);
  const goesOn = file.endsWith('.gz') ? await readPacked(file, cutter, taker) : await readPlain(file, cutter, taker);
  if (goesOn) cutter.end();
  return cutter.oversized;
}

/** Without the stream: it copies every byte twice. */
async function readPlain(file: string, cutter: LineCutter, taker: LineTaker): Promise<boolean> {
  const handle = openSync(file, 'r');
  try {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    let sinceBreath = 0;
    while (true) {
      const bytes = readSync(handle, chunk, 0, chunkBytes, null);
      if (bytes === 0) return true;
      taker.read(bytes);
      if (!cutter.take(chunk.subarray(0, bytes))) return false;
      sinceBreath += bytes;
      if (sinceBreath >= breathBytes) {
        sinceBreath = 0;
        await breathe();
      }
    }
  } finally {
    closeSync(handle);
  }
}

async function readPacked(file: string, cutter: LineCutter, taker: LineTaker): Promise<boolean> {
  const source = createReadStream(file);
  const bytes = source.pipe(createGunzip());
  // A pipe does not carry errors on.
  source.on('error', (error) => bytes.destroy(error));
  source.on('data', (chunk) => taker.read(chunk.length));
  for await (const chunk of bytes) {
    if (!cutter.take(chunk as Buffer)) return false;
  }
  return true;
}

const newline = 10;

class LineCutter {
  oversized = 0;
  readonly #taker: LineTaker;
  /** The beginning of a line whose end is yet to come. */
  #rest: Buffer[] = [];
  #restBytes = 0;
  #skipping = false;

  constructor(taker: LineTaker) {
    this.#taker = taker;
  }

  /** False: no more is wanted. The chunk may be used again afterwards. */
  take(chunk: Buffer): boolean {
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      const part = chunk.subarray(from, end);
      if (!this.#taker.line(this.#restBytes > 0 || this.#skipping ? this.#joined(part) : part)) return false;
      from = end + 1;
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
    return true;
  }

  end(): void {
    if (this.#restBytes > 0) this.#taker.line(this.#joined(Buffer.alloc(0)));
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
