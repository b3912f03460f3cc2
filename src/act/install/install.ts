import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { ok, type Result } from '../../model/result.ts';
import {
  type FileTrouble,
  makeFolder,
  type OwnFile,
  removeFolderIfEmpty,
  removeOwn,
  replaceOwn,
  writeByRename,
} from './own-file.ts';
import { dropRecord, hashOf, type InstallRecord, readRecord, writeRecord } from './record.ts';

export interface Change {
  kind: InstallRecord['kind'];
  file: OwnFile;
  after: Buffer;
  /** The file as it is now without anything of ours; null: there is none. */
  bare: Rest | null;
}

/** The record first: what it says is true as soon as the file is changed, and does no harm before. */
export function install(records: string, change: Change, at: string): Result<void, FileTrouble> {
  const { file, after, kind } = change;
  const known = readRecord(records, file.path);
  const untouched = known !== null && file.bytes !== null && hashOf(file.bytes) === known.written;
  // One that we made and that holds nothing else is still none; one that was there before us stays, however little is in it.
  const isOurs = known !== null && known.before === null && change.bare?.empty === true;
  const bare = isOurs ? null : (change.bare?.bytes.toString('base64') ?? null);
  const folder = makeFolder(path.dirname(file.path));
  if (!folder.ok) return folder;
  const undo = () => {
    if (folder.value) removeFolderIfEmpty(path.dirname(file.path));
  };
  const recorded = writeRecord(records, {
    v: 1,
    file: file.path,
    kind,
    before: untouched ? known.before : bare,
    written: hashOf(after),
    madeFolder: folder.value || (known?.madeFolder ?? false),
    at: untouched ? known.at : at,
  });
  if (!recorded.ok) {
    undo();
    return recorded;
  }
  if (file.bytes?.equals(after)) return ok(undefined);
  const written = replaceOwn(file, after);
  if (written.ok) return written;
  if (known === null) dropRecord(records, file.path);
  else writeRecord(records, known);
  undo();
  return written;
}

/** Nothing needs to be written: neither the file nor what is known of it. */
export function isInstalled(records: string, { file, after }: Change): boolean {
  return file.bytes?.equals(after) === true && readRecord(records, file.path)?.written === hashOf(after);
}

export type Undone = 'restored' | 'removed' | 'nothing' | 'gone';

/** What is left of a file without our parts, and whether that is nothing anybody could miss. */
export interface Rest {
  bytes: Buffer;
  empty: boolean;
}

/** The old bytes where nobody changed the file since; else `without` takes our parts out of it. */
export function uninstall<R extends string>(
  records: string,
  file: OwnFile,
  without: (current: Buffer, before: Buffer | null) => Result<Rest, R>,
): Result<Undone, FileTrouble | R> {
  const known = readRecord(records, file.path);
  const forget = (undone: Undone) => {
    dropRecord(records, file.path);
    if (known?.madeFolder) removeFolderIfEmpty(path.dirname(file.path));
    return ok(undone);
  };
  if (file.bytes === null) return forget(known === null ? 'nothing' : 'gone');
  const before = known === null || known.before === null ? null : Buffer.from(known.before, 'base64');
  const untouched = known !== null && hashOf(file.bytes) === known.written;
  let after: Buffer | null = before;
  if (!untouched) {
    const rest = without(file.bytes, before);
    if (!rest.ok) return rest;
    if (rest.value.bytes.equals(file.bytes)) return forget('nothing');
    after = rest.value.empty && known?.before === null ? null : rest.value.bytes;
  }
  const done = after === null ? removeOwn(file) : replaceOwn(file, after);
  return done.ok ? forget(untouched ? 'restored' : 'removed') : done;
}

/** The script behind the hooks, and the folder it writes to. */
export function placeScript(script: string, text: string, inbox: string): Result<void, FileTrouble> {
  for (const folder of [path.dirname(script), inbox]) {
    const made = makeFolder(folder, 0o700);
    if (!made.ok) return made;
  }
  return isScript(script, text) ? ok(undefined) : writeByRename(script, Buffer.from(text), 0o700);
}

export function isScript(script: string, text: string): boolean {
  try {
    return readFileSync(script, 'utf8') === text && (statSync(script).mode & 0o100) !== 0;
  } catch {
    return false;
  }
}
