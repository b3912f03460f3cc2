import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { fail, ok, type Result } from '../../model/result.ts';

/** A file somebody else wrote and we change: one of this user, a plain one, of a sensible size. */
export interface OwnFile {
  /** Where it really is: the target of a link, so that the link stays. */
  path: string;
  /** null: it is not there. */
  bytes: Buffer | null;
  mode: number | null;
  /** Differs when somebody wrote meanwhile. */
  stamp: string | null;
  /** It has other names, under which it is to stay the same file. */
  isLinked: boolean;
  /** Why it may be read but not changed. */
  locked: Trouble | null;
}

export type FileTrouble = 'unusable' | 'changed';
type Trouble = Result<never, FileTrouble>;

const fileBytesMax = 1_048_576;

/**
 * A link is followed to a file of the same kind only (settings to a .json, instructions to a .md): whoever wrote the
 * project could otherwise have us write into any file of the user.
 */
export function openOwn(asked: string): Result<OwnFile, FileTrouble> {
  const seen = lookAtOwn(asked);
  return seen.ok && seen.value.locked !== null ? seen.value.locked : seen;
}

/** Also one that may only be read: in most there is nothing of ours. */
export function lookAtOwn(asked: string): Result<OwnFile, FileTrouble> {
  const found = followed(asked);
  if (!found.ok) return found;
  const place = found.value;
  const folder = usableFolder(path.dirname(place));
  const locked = folder.ok ? null : folder;
  let fd: number;
  try {
    // Without O_NONBLOCK opening a FIFO would wait for its writer.
    fd = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === 'ENOENT')
      return ok({ path: place, bytes: null, mode: null, stamp: null, isLinked: false, locked });
    if (locked !== null) return locked;
    if (codeOf(error) === 'EACCES') return trouble(asked, 'cannot be read', 'make it readable for you');
    if (codeOf(error) === 'ENXIO') return trouble(asked, 'is no regular file', 'move it away');
    return trouble(asked, `cannot be opened (${codeOf(error)})`, 'look at it by hand');
  }
  try {
    const stat = fstatSync(fd);
    if (stat.isDirectory()) return trouble(asked, 'is a directory', 'move it away');
    if (!stat.isFile()) return trouble(asked, 'is no regular file', 'move it away');
    if (stat.uid !== process.getuid?.()) return trouble(asked, 'belongs to another user', 'run it as that user');
    if (stat.size > fileBytesMax) return trouble(asked, 'is larger than 1 MB', 'no settings are: look at it by hand');
    const readOnly = (stat.mode & 0o200) === 0 ? trouble(asked, 'is read-only', 'allow writing with chmod u+w') : null;
    const bytes = readFileSync(fd);
    const now = { mode: stat.mode & 0o7777, stamp: stampOf(stat), isLinked: stat.nlink > 1 };
    return ok({ path: place, bytes, ...now, locked: locked ?? readOnly });
  } catch (error) {
    return trouble(asked, `cannot be read (${codeOf(error)})`, 'look at it by hand');
  } finally {
    closeSync(fd);
  }
}

/**
 * By a new file beside it and a rename: it is the old one or the new one, never half of it. One with other names is written
 * in place, since a new file would have this name alone; its old bytes are on record by then.
 */
export function replaceOwn(file: OwnFile, bytes: Buffer): Result<void, FileTrouble> {
  if (file.locked !== null) return file.locked;
  if (file.isLinked) return writeInPlace(file, bytes);
  return writeByRename(file.path, bytes, file.mode, () => isUnchanged(file));
}

function writeInPlace(file: OwnFile, bytes: Buffer): Result<void, FileTrouble> {
  try {
    const fd = openSync(file.path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      if (stampOf(fstatSync(fd)) !== file.stamp) return changedMeanwhile(file.path);
      try {
        overwrite(fd, bytes);
      } catch (error) {
        // The disk is full, say: for the old text there was room.
        overwrite(fd, file.bytes ?? Buffer.alloc(0));
        throw error;
      }
    } finally {
      closeSync(fd);
    }
    return ok(undefined);
  } catch (error) {
    return unwritable(file.path, error);
  }
}

function overwrite(fd: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, at);
  ftruncateSync(fd, bytes.length);
  fsyncSync(fd);
}

export function writeByRename(
  place: string,
  bytes: Buffer,
  mode: number | null,
  stillGood: () => boolean = () => true,
): Result<void, FileTrouble> {
  const fresh = path.join(path.dirname(place), `.${path.basename(place)}.wk-${randomBytes(6).toString('hex')}`);
  try {
    const fd = openSync(fresh, 'wx', mode ?? 0o644);
    try {
      if (mode !== null) fchmodSync(fd, mode);
      writeFileSync(fd, bytes);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    if (!stillGood()) return changedMeanwhile(place);
    renameSync(fresh, place);
    return ok(undefined);
  } catch (error) {
    return unwritable(place, error);
  } finally {
    rmSync(fresh, { force: true });
  }
}

export function removeOwn(file: OwnFile): Result<void, FileTrouble> {
  if (file.locked !== null) return file.locked;
  if (!isUnchanged(file)) return changedMeanwhile(file.path);
  try {
    rmSync(file.path, { force: true });
    return ok(undefined);
  } catch (error) {
    return unwritable(file.path, error);
  }
}

/**
 * One after the other: Node's own way of making several at once never comes back where a file system says that there is
 * no such thing, as /proc does.
 */
function makeAll(folder: string, mode: number): boolean {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return false;
  if (path.dirname(folder) !== folder) makeAll(path.dirname(folder), mode);
  try {
    mkdirSync(folder, { mode });
    return true;
  } catch (error) {
    // Somebody else made it meanwhile.
    if (codeOf(error) === 'EEXIST' && statSync(folder).isDirectory()) return false;
    throw error;
  }
}

/** true: it was made; false: it was there. Nobody else can write to what is made. */
export function makeFolder(folder: string, mode = 0o755): Result<boolean, FileTrouble> {
  try {
    return ok(makeAll(path.resolve(folder), mode));
  } catch (error) {
    return unwritable(folder, error);
  }
}

export function removeFolderIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Somebody put something there.
  }
}

function followed(asked: string): Result<string, FileTrouble> {
  try {
    if (!lstatSync(asked).isSymbolicLink()) return ok(reallyAt(asked));
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return ok(reallyAt(asked));
    return trouble(asked, `cannot be reached (${code})`, 'look at the folders it is in');
  }
  try {
    const target = realpathSync(asked);
    if (path.extname(target) === path.extname(asked)) return ok(target);
    return trouble(asked, 'is a link to another kind of file', 'replace it by a file of its own');
  } catch {
    return trouble(asked, 'is a link that leads nowhere', 'remove it or make its target');
  }
}

/** With every link on the way to it resolved, also where its folders are still to be made. */
function reallyAt(place: string): string {
  const folder = path.dirname(place);
  if (folder === place) return place;
  try {
    return path.join(realpathSync(folder), path.basename(place));
  } catch {
    return path.join(reallyAt(folder), path.basename(place));
  }
}

function usableFolder(folder: string): Result<void, FileTrouble> {
  try {
    const stat = statSync(folder);
    if (!stat.isDirectory()) return trouble(folder, 'is no directory', 'move it away');
    accessSync(folder, constants.W_OK | constants.X_OK);
    // Root may write there all the same; whoever took the right away meant it.
    if ((stat.mode & 0o222) === 0) return trouble(folder, 'is read-only', 'allow writing with chmod u+w');
    return ok(undefined);
  } catch (error) {
    const code = codeOf(error);
    const above = path.dirname(folder);
    if (code === 'ENOENT' && above !== folder) return usableFolder(above);
    if (code === 'EACCES' || code === 'EROFS') return trouble(folder, 'is not writable', 'allow writing there');
    return trouble(folder, `cannot be used (${code})`, 'look at it by hand');
  }
}

function isUnchanged(file: OwnFile): boolean {
  try {
    return stampOf(lstatSync(file.path)) === file.stamp;
  } catch {
    return file.stamp === null;
  }
}

function stampOf(stat: Stats): string {
  return `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeMs}`;
}

function changedMeanwhile(place: string): Result<never, FileTrouble> {
  return fail('changed', `${place} was changed by somebody else in this moment`, 'run it again');
}

function unwritable(place: string, error: unknown): Result<never, FileTrouble> {
  const code = codeOf(error);
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return trouble(place, 'cannot be written: no space left on the disk', 'make room');
  return trouble(place, `cannot be written (${code})`, 'allow writing there');
}

function trouble(place: string, what: string, wayOut: string): Result<never, FileTrouble> {
  return fail('unusable', `${place} ${what}`, wayOut);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
