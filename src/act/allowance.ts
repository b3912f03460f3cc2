import { lstatSync, readdirSync, realpathSync, rmSync, type Stats } from 'node:fs';
import path from 'node:path';
import { fail, ok, type Result } from '../model/result.ts';
import { shown } from '../model/text.ts';
import type { ProcessId } from '../model/world.ts';
import { makeFolder, writeByRename } from './install/own-file.ts';
import { readOwnText } from './own-text.ts';

/** One file that one client process, in one session, may write without asking anybody. */
export interface Allowance extends ProcessId {
  v: 1;
  id: string;
  sessionId: string;
  file: string;
  untilMs: number;
}

const bytesMax = 16_384;
const nameOf = ({ pid, startTicks }: Pick<ProcessId, 'pid' | 'startTicks'>) => `${pid}-${startTicks}`;

/** One per process: a new one takes the place of the old. The hook looks for it by this name before anything else. */
export function writeAllowance(folder: string, allowance: Allowance): Result<void> {
  const made = makeFolder(folder, 0o700);
  if (!made.ok) return made;
  return writeByRename(path.join(folder, nameOf(allowance)), Buffer.from(`${JSON.stringify(allowance)}\n`), 0o600);
}

export function removeAllowance(folder: string, of: Pick<ProcessId, 'pid' | 'startTicks'>): void {
  rmSync(path.join(folder, nameOf(of)), { force: true });
}

/** The names under which allowances lie; also of what somebody else put there under such a name. */
export function allowanceOwners(folder: string): { pid: number; startTicks: string }[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const [, pid, startTicks] = /^(\d{1,10})-(\d{1,20})$/.exec(name) ?? [];
    return pid === undefined || startTicks === undefined ? [] : [{ pid: Number(pid), startTicks }];
  });
}

/** null: none, or one that no daemon wrote like this: of another user, open to others, a link, of another shape. */
export function readAllowance(folder: string, of: Pick<ProcessId, 'pid' | 'startTicks'>): Allowance | null {
  try {
    const place = lstatSync(folder);
    if (!place.isDirectory() || place.uid !== process.getuid?.() || (place.mode & 0o077) !== 0) return null;
    const isOurs = ({ uid, mode, nlink, size }: Stats) =>
      uid === place.uid && (mode & 0o077) === 0 && nlink === 1 && size <= bytesMax;
    const found = JSON.parse(readOwnText(path.join(folder, nameOf(of)), isOurs)) as Allowance;
    const whole = found.v === 1 && [found.id, found.bootId, found.sessionId, found.file].every(isText);
    if (!whole || typeof found.untilMs !== 'number' || nameOf(found) !== nameOf(of)) return null;
    return found;
  } catch {
    return null;
  }
}

const isText = (value: unknown) => typeof value === 'string' && value !== '';

/**
 * Written the one way there is to write it, no link on the way to it, and at its end nothing yet or a plain file of this
 * user that has no other name: what is written there goes there and nowhere else.
 */
export function isPlainPlace(file: string): boolean {
  if (path.resolve(file) !== file || shown(file) !== file) return false;
  try {
    if (realpathSync(path.dirname(file)) !== path.dirname(file)) return false;
    const stat = lstatSync(file, { throwIfNoEntry: false });
    return stat === undefined || (stat.isFile() && stat.nlink === 1 && stat.uid === process.getuid?.());
  } catch {
    return false;
  }
}

/** The agent would have to ask for a `mkdir`, which stays a dialog. */
export function makePlace(file: string): Result<void> {
  const made = makeFolderFor(file);
  if (!made.ok || isPlainPlace(file)) return made;
  return notPlain(file);
}

/** Not through a link. */
export function makeFolderFor(file: string): Result<void> {
  if (!isLinkFree(path.dirname(file))) return notPlain(file);
  const made = makeFolder(path.dirname(file));
  return made.ok ? ok(undefined) : made;
}

function notPlain(file: string): Result<never> {
  return fail('not-plain', `${file} is no plain place for a file: a link, a folder or an odd name is on the way`);
}

/** As far as it exists. */
function isLinkFree(folder: string): boolean {
  for (let above = folder; ; above = path.dirname(above)) {
    try {
      return realpathSync(above) === above;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return false;
      if (lstatSync(above, { throwIfNoEntry: false }) !== undefined || above === path.dirname(above)) return false;
    }
  }
}
