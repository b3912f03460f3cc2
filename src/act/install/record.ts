import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ok, type Result } from '../../model/result.ts';
import { readOwnText } from '../own-text.ts';
import { type FileTrouble, makeFolder, writeByRename } from './own-file.ts';

/** What was done to one file, so that it can be undone to the byte. */
export interface InstallRecord {
  v: 1;
  /** Where it really is. */
  file: string;
  kind: 'settings' | 'instructions';
  /** base64; null: there was no such file. */
  before: string | null;
  /** Of the file as we left it: with the same bytes nobody changed it since. */
  written: string;
  /** We made the folder it is in. */
  madeFolder: boolean;
  at: string;
}

const recordBytesMax = 4_194_304;

export function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function readRecords(folder: string): InstallRecord[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names
    .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    .map((name) => parseRecord(path.join(folder, name)))
    .filter((record) => record !== null)
    .toSorted((a, b) => (a.file < b.file ? -1 : 1));
}

export function readRecord(folder: string, file: string): InstallRecord | null {
  const record = parseRecord(recordFile(folder, file));
  return record?.file === file ? record : null;
}

export function writeRecord(folder: string, record: InstallRecord): Result<void, FileTrouble> {
  const made = makeFolder(folder, 0o700);
  if (!made.ok) return made;
  const bytes = Buffer.from(`${JSON.stringify(record)}\n`);
  const written = writeByRename(recordFile(folder, record.file), bytes, 0o600);
  return written.ok ? ok(undefined) : written;
}

export function dropRecord(folder: string, file: string): void {
  rmSync(recordFile(folder, file), { force: true });
}

function recordFile(folder: string, file: string): string {
  return path.join(folder, `${createHash('sha256').update(file).digest('hex').slice(0, 32)}.json`);
}

/** null: not there, or not one of ours. Without it a file is put right by taking our parts out of it. */
function parseRecord(place: string): InstallRecord | null {
  try {
    const text = readOwnText(place);
    const record = text.length > recordBytesMax ? null : (JSON.parse(text) as InstallRecord);
    if (record === null || record.v !== 1 || typeof record.file !== 'string' || typeof record.written !== 'string')
      return null;
    if (record.kind !== 'settings' && record.kind !== 'instructions') return null;
    return record.before === null || typeof record.before === 'string' ? record : null;
  } catch {
    return null;
  }
}
