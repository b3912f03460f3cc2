import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
  watch,
} from 'node:fs';
import type { FileInfo, FileKind, Files, ReadFailure } from '../model/world.ts';

/** Reads only regular files of this user, never through a link: a path an agent can write must not lead us elsewhere. */
export function ownFiles(uid: number): Files {
  return {
    info(path) {
      try {
        const stats = lstatSync(path, { throwIfNoEntry: false });
        return stats === undefined ? null : fileInfo(stats);
      } catch {
        return null;
      }
    },
    list(path) {
      try {
        return readdirSync(path);
      } catch {
        return null;
      }
    },
    readSmall(path, bytesMax) {
      const read = readOwn(path, uid, (fd, info) =>
        info.size > bytesMax ? 'too-big' : readBytes(fd, 0, Math.min(bytesMax, info.size + 1)),
      );
      return read.ok ? { ok: true, text: read.bytes.toString('utf8'), info: read.info } : read;
    },
    readAt(path, offset, bytesMax) {
      return readOwn(path, uid, (fd, info) =>
        readBytes(fd, offset, Math.max(0, Math.min(bytesMax, info.size - offset))),
      );
    },
    watch(path, changed) {
      try {
        const watcher = watch(path, { persistent: false }, (_event, name) => changed(name));
        watcher.on('error', () => watcher.close());
        return watcher;
      } catch {
        return null;
      }
    },
  };
}

type Read = { ok: true; bytes: Buffer; info: FileInfo } | { ok: false; reason: ReadFailure };

function readOwn(path: string, uid: number, read: (fd: number, info: FileInfo) => Buffer | ReadFailure): Read {
  let fd: number;
  try {
    // Without O_NONBLOCK opening a FIFO would wait for its writer.
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return { ok: false, reason: openFailure(error) };
  }
  try {
    const info = fileInfo(fstatSync(fd));
    if (info.kind !== 'file') return { ok: false, reason: 'not-regular' };
    if (info.uid !== uid) return { ok: false, reason: 'foreign' };
    const bytes = read(fd, info);
    return typeof bytes === 'string' ? { ok: false, reason: bytes } : { ok: true, bytes, info };
  } catch {
    return { ok: false, reason: 'io' };
  } finally {
    closeSync(fd);
  }
}

function readBytes(fd: number, offset: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, buffer, filled, length - filled, offset + filled);
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}

function openFailure(error: unknown): ReadFailure {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'missing';
  if (code === 'EACCES' || code === 'EPERM') return 'denied';
  return code === 'ELOOP' || code === 'ENXIO' ? 'not-regular' : 'io';
}

function fileInfo(stats: Stats): FileInfo {
  return {
    kind: fileKind(stats),
    size: stats.size,
    mtimeMs: stats.mtimeMs,
    inode: String(stats.ino),
    bornMs: stats.birthtimeMs,
    uid: stats.uid,
  };
}

function fileKind(stats: Stats): FileKind {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  return stats.isSymbolicLink() ? 'symlink' : 'other';
}
