import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  openSync,
  readdirSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ok, type Result } from '../../model/result.ts';
import { type EmbeddedFailure, embeddedFailure } from './failure.ts';
import { clusterIn, type EmbeddedPlace } from './place.ts';
import { clusterProcesses, signal } from './postmaster.ts';
import type { OsUser } from './run-as.ts';
import { nameOfUid } from './server-user.ts';

const endMs = 10_000;
const pollMs = 20;

interface Owners {
  /** Whose a file may have been; another one's is no part of the database. */
  before: ReadonlySet<number>;
  after: OsUser;
}

/**
 * Makes a database that ran as another user this user's own. Only under the lock, and only while no server runs. Each
 * directory is root's while it is gone through and the topmost changes hands last: killed at any point, the next start
 * goes on. `recorded`: how it ran before.
 */
export async function takeOver(
  pgRoot: string,
  recorded: EmbeddedPlace | null,
  user: OsUser,
  progress: (line: string) => void,
): Promise<Result<null, EmbeddedFailure>> {
  const cluster = clusterIn(pgRoot);
  const found = lstatSync(cluster, { throwIfNoEntry: false });
  if (found !== undefined && found.uid !== user.uid) {
    const before = recorded?.serverUser?.uid ?? found.uid;
    progress(`the database changes hands, from ${nameOfUid(before)} to ${user.name}`);
    // Beside a survivor of another user PostgreSQL would start: it takes its memory for somebody else's.
    if (!(await endSurvivors(cluster))) return embeddedFailure('locked', `processes of ${cluster} do not end`);
    lock(pgRoot);
    const uids = [before, found.uid, user.uid].filter((uid) => uid !== 0);
    const odd = giveTree(cluster, { before: new Set(uids), after: user });
    if (odd !== null) return embeddedFailure('no-access', `${odd} in the database belongs to somebody else`);
  }
  lchownSync(pgRoot, user.uid, user.gid);
  return ok(null);
}

function lock(folder: string): void {
  lchownSync(folder, 0, 0);
  chmodSync(folder, 0o700);
}

async function endSurvivors(cluster: string): Promise<boolean> {
  const untilMs = performance.now() + endMs;
  while (clusterProcesses({ cluster }).length > 0) {
    if (performance.now() > untilMs) return false;
    for (const left of clusterProcesses({ cluster })) signal(left, 'SIGKILL');
    await sleep(pollMs);
  }
  return true;
}

/** The first that may not be given; null: all were. Nobody can put anything else in its place meanwhile. */
function giveTree(folder: string, owners: Owners): string | null {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const fd = openSync(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    const { uid, mode } = fstatSync(fd);
    if (uid !== 0 && !owners.before.has(uid)) return folder;
    fchownSync(fd, 0, 0);
    fchmodSync(fd, 0o700);
    for (const name of readdirSync(`/proc/self/fd/${fd}`)) {
      const odd = giveEntry(`/proc/self/fd/${fd}/${name}`, path.join(folder, name), owners);
      if (odd !== null) return odd;
    }
    fchownSync(fd, owners.after.uid, owners.after.gid);
    fchmodSync(fd, mode & 0o777);
    return null;
  } finally {
    closeSync(fd);
  }
}

function giveEntry(place: string, shown: string, owners: Owners): string | null {
  const { uid, gid } = owners.after;
  const stat = lstatSync(place);
  if (stat.isDirectory()) return giveTree(place, owners) === null ? null : shown;
  // With a second name it may be any file of any place.
  if (!owners.before.has(stat.uid) || (stat.isFile() && stat.nlink !== 1)) return shown;
  lchownSync(place, uid, gid);
  return null;
}
