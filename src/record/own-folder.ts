import { lstatSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import path from 'node:path';

const [groupWrites, othersWrite, sticky] = [0o020, 0o002, 0o1000];
const linksMax = 40;

/** Is this folder, with all that is in it, another user's to change? null: it is ours alone, or is not there. */
export function whyNotOurs(folder: string): string | null {
  const way = wayTo(path.resolve(folder));
  if (way === null) return 'too many links lead there';
  const end = way.isWhole ? way.steps.pop() : undefined;
  if (end === undefined) return moved(way.steps);
  if (!end.info.isDirectory()) return 'is no directory';
  if (end.info.uid !== process.getuid?.()) return `belongs to uid ${end.info.uid}`;
  return mayOthersWrite(end.info) ? 'can be written to by others' : moved(way.steps);
}

/** Could anybody but this user and root put another folder in the place of this one? */
export function whyOthersMayMove(folder: string): string | null {
  const way = wayTo(path.resolve(folder));
  return way === null ? 'too many links lead there' : moved(way.steps.slice(0, -1));
}

/** In a folder that others write to they can, unless it is sticky as /tmp is. */
function moved(way: readonly PassedPlace[]): string | null {
  for (const { place, info } of way) {
    if (!trusted.includes(info.uid)) return `lies below ${place}, which belongs to uid ${info.uid}`;
    if (info.isDirectory() && mayOthersWrite(info) && (info.mode & sticky) === 0)
      return `lies below ${place}, which others can write to`;
  }
  return null;
}

/** Many systems give each user a group of the same number and let it write; nobody else is in that. */
function mayOthersWrite({ uid, gid, mode }: Stats): boolean {
  return (mode & othersWrite) !== 0 || ((mode & groupWrites) !== 0 && gid !== uid);
}

/** In a namespace that knows few users all others, root among them, have the one number of the unknown. */
const trusted = [0, process.getuid?.(), knowsAll() ? 0 : 65_534];

function knowsAll(): boolean {
  try {
    return /^\s*0\s+0\s+4294967295\s*$/.test(readFileSync('/proc/self/uid_map', 'latin1'));
  } catch {
    return true;
  }
}

interface PassedPlace {
  place: string;
  info: Stats;
}

/** Every folder and link that is passed on the way there, as far as it goes; when whole, what is there is the last. */
function wayTo(folder: string): { steps: PassedPlace[]; isWhole: boolean } | null {
  const steps = [{ place: '/', info: lstatSync('/') }];
  let names = folder.split('/').filter(Boolean);
  let at = '/';
  let links = 0;
  while (names.length > 0) {
    const place = path.join(at, names[0] ?? '');
    const info = lookAt(place);
    if (info === null) return { steps, isWhole: false };
    names = names.slice(1);
    steps.push({ place, info });
    if (info.isSymbolicLink()) {
      links += 1;
      if (links > linksMax) return null;
      const target = path.resolve(at, readlinkSync(place));
      names = [...target.split('/').filter(Boolean), ...names];
      at = '/';
    } else at = place;
  }
  return { steps, isWhole: true };
}

/** null: there is nothing. */
function lookAt(place: string): Stats | null {
  try {
    return lstatSync(place);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}
