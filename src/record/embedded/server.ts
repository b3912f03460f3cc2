import { closeSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fail, ok, type Result } from '../../model/result.ts';
import { listens } from '../listens.ts';
import { acquireLock, waitForLock } from '../lock-file.ts';
import { ownProcess, readProcess } from '../own-process.ts';
import { ensureCluster } from './cluster.ts';
import { daemonCanConnect, urlOf } from './connect.ts';
import { type EmbeddedFailure, embeddedFailure } from './failure.ts';
import { launch, untilReady } from './launch.ts';
import { canonicalHome, type EmbeddedPlace, isInitialised, lockPath, readPlace, rootOf } from './place.ts';
import { findPostmaster, type ServerProcess, signal, stillRuns } from './postmaster.ts';
import { homeOfAnother, isOutdated, makeHome, prepare, type StartWish } from './prepare.ts';
import { nameOfUid } from './server-user.ts';
import { adminRole, daemonRole, port } from './settings.ts';

export interface EmbeddedServer {
  place: EmbeddedPlace;
  /** For daemon and CLI. */
  url: string;
  /** For migrations. */
  adminUrl: string;
  postmaster: ServerProcess;
}

export interface StartOptions {
  timeoutMs?: number;
  progress?: (line: string) => void;
  /** What whoever asked has to know, however quiet it is to be. */
  notice?: (line: string) => void;
  /** As root: the server's user is made where it is missing. */
  createUser?: boolean;
  otherMajor?: StartWish['otherMajor'];
}

type Started = Result<EmbeddedServer, EmbeddedFailure>;

const startTimeoutMs = 60_000;
const fastStopMs = 10_000;
const immediateStopMs = 10_000;
const pollMs = 20;
const elsewhereFix = 'stop it where it runs, such as in another container';

/** Gives the running server of this home, made and started as far as needed. */
export async function startEmbedded(home: string, options: StartOptions = {}): Promise<Started> {
  const endMs = performance.now() + (options.timeoutMs ?? startTimeoutMs);
  if (ownProcess() === null) {
    return embeddedFailure(
      'start-failed',
      `the embedded PostgreSQL needs Linux with /proc, this is ${process.platform}`,
    );
  }
  const made = makeHome(home);
  if (!made.ok) return made;
  const real = canonicalHome(home);
  const serving = await alreadyServing(real);
  if (serving !== null) return ok(serving);
  const foreign = homeOfAnother(real);
  if (!foreign.ok) return foreign;
  const lock = await waitForLock(lockPath(real), endMs - performance.now());
  if (!lock.ok) {
    const why = lock.reason === 'held' ? `process ${lock.owner.pid} has been starting it` : lock.message;
    return embeddedFailure('locked', `the database cannot be started, ${why}`);
  }
  try {
    const { progress = () => {}, notice = () => {}, createUser = true, otherMajor = 'refused' } = options;
    return await startLocked(real, endMs, { progress, notice, createUser, otherMajor });
  } finally {
    lock.release();
  }
}

/** Fast first: SIGTERM would wait for every client. Immediate after 10 s: the write-ahead log repairs that. */
export async function stopEmbedded(home: string): Promise<Result<'stopped' | 'not-running'>> {
  const running = findRunning(home);
  if (running === null) return ok('not-running');
  const stopped = await stopServer(running);
  if (stopped.ok) removeOutsideSocketDir(canonicalHome(home));
  return stopped;
}

async function stopServer(running: ServerProcess): Promise<Result<'stopped'>> {
  for (const [name, waitMs] of [
    ['SIGINT', fastStopMs],
    ['SIGQUIT', immediateStopMs],
  ] as const) {
    try {
      signal(running, name);
    } catch (error) {
      return fail('not-allowed', `the database (pid ${running.pid}) cannot be stopped: ${(error as Error).message}`);
    }
    const endMs = performance.now() + waitMs;
    while (performance.now() < endMs) {
      if (!stillRuns(running)) return ok('stopped');
      await sleep(pollMs);
    }
  }
  return fail('timeout', `the database (pid ${running.pid}) does not stop`, 'look at that process');
}

/** A socket directory in the temp folder is no part of the home; the next start makes it again, under the same lock. */
function removeOutsideSocketDir(home: string): void {
  const place = readPlace(home);
  if (place === null || path.dirname(place.socketDir) === rootOf(place)) return;
  const lock = acquireLock(lockPath(home));
  if (!lock.ok) return;
  try {
    if (findPostmaster(place) === null) rmdirSync(place.socketDir);
  } catch {
    // Not empty or already gone: not ours to force.
  } finally {
    lock.release();
  }
}

/** Starts nothing; null: this home never had a database of its own. */
export function embeddedUrl(home: string): string | null {
  const place = readPlace(canonicalHome(home));
  return place !== null && isInitialised(place) ? urlOf(place, daemonRole) : null;
}

/** Where its files are; null: this home never had a database of its own. */
export function embeddedFolder(home: string): string | null {
  const place = readPlace(canonicalHome(home));
  return place === null ? null : rootOf(place);
}

/** All of it, wherever that is. Only while it does not run. */
export function removeEmbedded(home: string): Result<void> {
  const place = readPlace(canonicalHome(home));
  if (place === null) return ok(undefined);
  const lock = acquireLock(lockPath(home));
  if (!lock.ok || findPostmaster(place) !== null) return fail('in-use', 'somebody starts the database', 'try again');
  try {
    rmSync(rootOf(place), { recursive: true, force: true });
    const above = path.dirname(rootOf(place));
    if (readdirSync(above).length === 0) rmdirSync(above);
    return ok(undefined);
  } catch (error) {
    return fail('not-allowed', `${rootOf(place)} cannot be removed (${(error as Error).message})`);
  } finally {
    lock.release();
  }
}

export function embeddedRunning(home: string): { pid: number } | null {
  const running = findRunning(home);
  return running === null ? null : { pid: running.pid };
}

/** Who the running server is, by name; null: none runs. */
export function embeddedUser(home: string): string | null {
  const running = findRunning(home);
  const uid = running === null ? undefined : readProcess(running.pid)?.uid;
  return uid === undefined ? null : nameOfUid(uid);
}

function findRunning(home: string): ServerProcess | null {
  const place = readPlace(canonicalHome(home));
  return place === null ? null : findPostmaster(place);
}

async function alreadyServing(home: string): Promise<EmbeddedServer | null> {
  const place = readPlace(home);
  const running = place === null ? null : findPostmaster(place);
  if (place === null || running === null || isOutdated(home, place) || !(await daemonCanConnect(place))) return null;
  return describe(place, running);
}

async function startLocked(home: string, endMs: number, wish: StartWish): Promise<Started> {
  const { progress } = wish;
  // Somebody else may have done all or half of it while we waited.
  const recorded = readPlace(home);
  const running = recorded === null ? null : findPostmaster(recorded);
  if (recorded !== null && running !== null && isOutdated(home, recorded)) {
    progress('stopping the database, which was started by an earlier version');
    const stopped = await stopServer(running);
    if (!stopped.ok) return embeddedFailure('locked', stopped.message);
  } else if (recorded !== null) {
    const ready = await untilReady(recorded, endMs);
    if (ready !== null) return ready.ok ? ok(describe(recorded, ready.value)) : ready;
  }
  // Never beside a server that answers and cannot be seen, as one of another container: both would write the same files.
  if (recorded !== null && (await isServedElsewhere(recorded)))
    return embeddedFailure('locked', `a server that cannot be seen from here has ${recorded.cluster}`, elsewhereFix);
  const prepared = await prepare(home, wish);
  if (!prepared.ok) return prepared;
  const { place, startLog } = prepared.value;
  try {
    const cluster = await ensureCluster(place, Math.max(endMs - performance.now(), 1), wish);
    if (!cluster.ok) return cluster;
    const ready = await launch(prepared.value, endMs, progress);
    return ready.ok ? ok(describe(place, ready.value)) : ready;
  } finally {
    closeSync(startLog);
  }
}

/** A socket outside the home may be that of the directory this one was copied from. */
async function isServedElsewhere(place: EmbeddedPlace): Promise<boolean> {
  if (path.dirname(place.socketDir) !== rootOf(place) || findPostmaster(place) !== null) return false;
  return listens(path.join(place.socketDir, `.s.PGSQL.${port}`));
}

function describe(place: EmbeddedPlace, postmaster: ServerProcess): EmbeddedServer {
  return { place, url: urlOf(place, daemonRole), adminUrl: urlOf(place, adminRole), postmaster };
}
