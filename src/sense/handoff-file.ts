import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { matchesGlob } from '../model/glob.ts';
import { documentBytesMax, type HandoffLook } from '../model/handoff-file.ts';
import { lookInto, untrusted } from '../model/text.ts';

export interface HandoffPlace {
  /** The project's directory, or the one that the configuration names: nothing outside it is looked at. */
  root: string;
  /** Whose file it has to be. */
  uid: number;
  /** When it was asked for (again): a file that is older is another one. */
  askedMs: number;
}

/** File systems note times by a clock that is a few milliseconds behind. */
const coarseMs = 20;

/**
 * One look at the file an agent was asked to write. A context is cleared on the strength of what is found, and the agent,
 * or whoever else writes in the project, could put anything there: so no link is followed on the way, nothing blocks, and
 * the text is that of one moment.
 */
export function lookAtHandoff(file: string, { root, uid, askedMs }: HandoffPlace): HandoffLook {
  const inside = path.relative(root, file);
  if (!path.isAbsolute(file) || inside === '' || inside === '..' || inside.startsWith(`..${path.sep}`))
    return { kind: 'outside' };
  let fd: number | null = null;
  try {
    const realRoot = realpathSync(root);
    const place = path.join(realRoot, inside);
    const barred = barredOnTheWay(place, inside);
    if (barred !== null) return barred;
    fd = openBelow(realRoot, inside.split(path.sep));
    const before = fstatSync(fd);
    if (!before.isFile()) return { kind: 'not-regular' };
    if (before.uid !== uid) return { kind: 'unreadable' };
    if (before.mtimeMs < askedMs - coarseMs) return { kind: 'old' };
    if (before.size > documentBytesMax) return { kind: 'huge' };
    // Changed this very moment: a further write would not show in its time. That of the change nobody can set.
    if (Math.abs(Date.now() - before.ctimeMs) < coarseMs) return { kind: before.size === 0 ? 'empty' : 'changing' };
    const bytes = readAll(fd, before.size);
    if (bytes.length !== before.size || !isSame(before, fstatSync(fd)) || !isSame(before, lstatSync(place)))
      return { kind: 'changing' };
    const text = untrusted(new TextDecoder().decode(bytes));
    if (lookInto(text).trim() === '') return { kind: 'empty' };
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    // One dated in the future would be newer than whatever is said and done after it.
    return { kind: 'ok', text, sha256, mtimeMs: Math.min(before.mtimeMs, before.ctimeMs) };
  } catch (error) {
    return { kind: failureKind(error) };
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

export function isDirectory(place: string): boolean {
  try {
    return statSync(place).isDirectory();
  } catch {
    return false;
  }
}

/** Of a directory no more than this is looked through. */
const entriesMax = 1_000;

/**
 * The file that a recipe means: its path, or of all that its stars allow the newest. The path itself where none is there,
 * so that a look at it says so.
 */
export function newestHandoff(pattern: string, { root }: Pick<HandoffPlace, 'root'>): string {
  const parts = path.relative(root, pattern).split(path.sep);
  let places = [root];
  for (const part of parts) {
    places = places.flatMap((place) => (part.includes('*') ? entriesLike(place, part) : [path.join(place, part)]));
    places.length = Math.min(places.length, entriesMax);
  }
  const times = places.map((place) => ({ place, mtimeMs: mtimeMs(place) })).filter(({ mtimeMs }) => mtimeMs !== null);
  times.sort((a, b) => (b.mtimeMs ?? 0) - (a.mtimeMs ?? 0));
  return times[0]?.place ?? pattern;
}

function entriesLike(place: string, part: string): string[] {
  try {
    // A link in place of the directory is found by the look at the file.
    const names = readdirSync(place).filter((name) => !name.startsWith('.') || part.startsWith('.'));
    return names
      .filter((name) => matchesGlob(part, name))
      .slice(0, entriesMax)
      .map((name) => path.join(place, name));
  } catch {
    return [];
  }
}

function mtimeMs(place: string): number | null {
  try {
    return lstatSync(place).mtimeMs;
  } catch {
    return null;
  }
}

/** Every directory below the root must be one, and no link. */
function barredOnTheWay(place: string, inside: string): HandoffLook | null {
  const parts = inside.split(path.sep);
  for (let above = parts.length - 1; above >= 0; above -= 1) {
    const stats = lstatSync(path.resolve(place, ...Array<string>(above).fill('..')));
    if (stats.isSymbolicLink()) return { kind: 'link' };
    if (above > 0 && !stats.isDirectory()) return { kind: 'missing' };
    if (above === 0 && !stats.isFile()) return { kind: 'not-regular' };
  }
  return null;
}

/**
 * Opened from directory to directory, each held open while the next is opened in it: one that is exchanged for a link
 * between the look at it and the opening is not followed.
 */
function openBelow(root: string, parts: string[]): number {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;
  let at = openSync(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  for (const [index, part] of parts.entries()) {
    const kind = index === parts.length - 1 ? O_NONBLOCK : O_DIRECTORY;
    const above = at;
    try {
      at = openSync(`/proc/self/fd/${above}/${part}`, O_RDONLY | O_NOFOLLOW | kind);
    } finally {
      closeSync(above);
    }
  }
  return at;
}

/** One byte more than expected, to see that it grew. */
function readAll(fd: number, size: number): Buffer {
  const buffer = Buffer.alloc(size + 1);
  let filled = 0;
  while (filled < buffer.length) {
    const count = readSync(fd, buffer, filled, buffer.length - filled, filled);
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}

function isSame(a: Stats, b: Stats): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs;
}

function failureKind(error: unknown): Exclude<HandoffLook['kind'], 'ok'> {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'missing';
  if (code === 'ELOOP') return 'link';
  return code === 'ENXIO' ? 'not-regular' : 'unreadable';
}
