import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { fail, ok, type Result } from '../model/result.ts';
import { reasonOf } from './connection.ts';

/**
 * All rows in one file: a line that says what they are, the rows of each table as COPY writes them up to a line `\.`, and the
 * hash of all that.
 */
const mark = 'watchkeeper-backup ';
const tableEnd = Buffer.from('\\.\n');
const endPattern = /^end ([0-9a-f]{64})\n$/;
const endBytes = 69;
const headBytesMax = 1_048_576;

const headShape = z.object({
  v: z.literal(1),
  /** Of the Watchkeeper, the schema and the server it is from. */
  version: z.string(),
  schema: z.int().min(1),
  server: z.string(),
  at: z.iso.datetime(),
  /** The `host.json` of the data directory it was made in. */
  host: z.string().nullable(),
  hosts: z.array(z.object({ id: z.string(), name: z.string() })),
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()).min(1) })),
  /** Where the numbers that a column gives out stand. */
  sequences: z.array(z.object({ table: z.string(), column: z.string(), last: z.string(), called: z.boolean() })),
});

export type BackupHead = z.infer<typeof headShape>;

/** How many bytes are done by now. */
export type Done = (bytes: number) => void;

export type BackupFileFailure = 'unwritable' | 'bad-file' | 'newer';

/** It appears whole or not at all. An earlier backup is replaced, nothing else. Its size. */
export async function writeBackupFile(
  file: string,
  head: BackupHead,
  tables: (name: string, columns: string[]) => AsyncIterable<Buffer>,
  { done, signal }: { done: Done; signal: AbortSignal },
): Promise<Result<number, BackupFileFailure>> {
  const fresh = path.join(path.dirname(file), `.${path.basename(file)}.wk-${randomBytes(6).toString('hex')}`);
  const hash = createHash('sha256');
  let bytes = 0;
  const counted = (chunk: Buffer) => {
    hash.update(chunk);
    bytes += chunk.length;
    done(bytes);
    return chunk;
  };
  async function* all(): AsyncGenerator<Buffer> {
    yield counted(Buffer.from(`${mark}${JSON.stringify(head)}\n`));
    for (const { name, columns } of head.tables) {
      for await (const chunk of tables(name, columns)) yield counted(chunk);
      yield counted(tableEnd);
    }
    yield Buffer.from(`end ${hash.digest('hex')}\n`);
  }
  try {
    const there = await firstLine(file);
    if (there !== null && !there.startsWith(mark))
      return fail('unwritable', `${file} is there and is no backup`, 'give another name');
    const handle = await open(fresh, 'wx', 0o600);
    await pipeline(Readable.from(all(), { objectMode: false }), handle.createWriteStream({ flush: true }), { signal });
    renameSync(fresh, file);
    return ok(bytes + endBytes);
  } catch (error) {
    // What reading the rows ended by is not about the file.
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return fail('unwritable', `${file} cannot be written (${reasonOf(error)})`);
  } finally {
    rmSync(fresh, { force: true });
  }
}

/** What a file says it is. Nothing else of it has been looked at. */
export async function readBackupHead(file: string, schemaMax: number): Promise<Result<BackupHead, BackupFileFailure>> {
  const noBackup = fail('bad-file', `${file} is no backup of Watchkeeper`);
  let said: { v?: unknown; schema?: unknown; version?: unknown } | null;
  try {
    const first = await firstLine(file);
    if (first === null)
      return fail('bad-file', `there is no file ${file}`, 'name one that `watchkeeper db backup` wrote');
    if (!first.startsWith(mark)) return noBackup;
    said = JSON.parse(first.slice(mark.length));
  } catch (error) {
    return error instanceof SyntaxError ? noBackup : fail('bad-file', `${file} cannot be read (${reasonOf(error)})`);
  }
  const isAbove = (value: unknown, limit: number) => typeof value === 'number' && value > limit;
  if (isAbove(said?.v, 1) || isAbove(said?.schema, schemaMax))
    return fail('newer', `${file} was made by a newer Watchkeeper (${said?.version})`, 'install that one');
  const sound = headShape.safeParse(said);
  return sound.success ? ok(sound.data) : noBackup;
}

/** null: there is no such file. */
async function firstLine(file: string): Promise<string | null> {
  let text = '';
  try {
    for await (const chunk of createReadStream(file, { encoding: 'latin1', end: headBytesMax })) {
      text += chunk;
      if (text.includes('\n')) break;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  return Buffer.from(text.split('\n', 1)[0] ?? '', 'latin1').toString('utf8');
}

/** Whole, as it was written? Before anything of it is believed. Its size. */
export async function verifyBackup(file: string, signal: AbortSignal): Promise<Result<number, BackupFileFailure>> {
  const hash = createHash('sha256');
  let bytes = 0;
  let tail: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(file, { signal })) {
    bytes += chunk.length;
    const all = Buffer.concat([tail, chunk]);
    const cut = Math.max(0, all.length - endBytes);
    hash.update(all.subarray(0, cut));
    tail = all.subarray(cut);
  }
  const said = endPattern.exec(tail.toString('latin1'))?.[1];
  if (said === undefined) return fail('bad-file', `${file} is cut off`, 'take another backup');
  if (said !== hash.digest('hex')) return fail('bad-file', `${file} was altered`, 'take another backup');
  return ok(bytes);
}

/** Cuts the file where one table ends, and holds no more of it than a row. */
export class BackupReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #done: Done;
  /** Begins with a line's first byte. */
  #pending: Buffer = Buffer.alloc(0);
  #bytes = 0;

  constructor(chunks: AsyncIterable<Buffer>, done: Done) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#done = done;
  }

  static of(file: string, done: Done): BackupReader {
    return new BackupReader(createReadStream(file), done);
  }

  async skipHead(): Promise<void> {
    while (!this.#pending.includes(10)) await this.#more();
    this.#pending = this.#pending.subarray(this.#pending.indexOf(10) + 1);
  }

  async *table(): AsyncGenerator<Buffer> {
    for (;;) {
      if (this.#pending.subarray(0, tableEnd.length).equals(tableEnd)) {
        this.#pending = this.#pending.subarray(tableEnd.length);
        return;
      }
      const end = this.#pending.indexOf(`\n${tableEnd}`);
      const lines = (end < 0 ? this.#pending.lastIndexOf(10) : end) + 1;
      if (lines > 0) yield this.#pending.subarray(0, lines);
      this.#pending = this.#pending.subarray(lines);
      if (end < 0) await this.#more();
    }
  }

  async #more(): Promise<void> {
    const { done, value } = await this.#chunks.next();
    if (done) throw new Error('the file changed while it was read');
    this.#pending = Buffer.concat([this.#pending, value]);
    this.#bytes += value.length;
    this.#done(this.#bytes);
  }
}
