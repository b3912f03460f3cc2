import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { readOwnText } from '../../act/own-text.ts';
import { ok, type Result } from '../../model/result.ts';
import { explainRun, installBinaries, isWhole, runVersion } from './binaries.ts';
import { type EmbeddedFailure, embeddedFailure } from './failure.ts';
import { findPackage, type PostgresPackage } from './package.ts';
import {
  clusterIn,
  clusterMajor,
  confIn,
  type EmbeddedPlace,
  isInitialised,
  majorOf,
  readPlace,
  rootOf,
  writePlace,
} from './place.ts';
import type { OsUser } from './run-as.ts';
import { callerName, chooseServerUser, serverUserName, type UserWish, weAreRoot } from './server-user.ts';
import { hbaConf, identConf, postgresConf, shortHash } from './settings.ts';
import { shortSocketDir, socketFits } from './socket-dir.ts';
import { takeOver } from './take-over.ts';

/** root's default home, and where the server lives when its user cannot get into another home of root's. */
const systemHome = '/var/lib/watchkeeper';

export interface Prepared {
  place: EmbeddedPlace;
  /** Takes what the server says before its log collector runs. */
  startLog: number;
}

export interface StartWish extends UserWish {
  progress: (line: string) => void;
  /** What becomes of a cluster that another major version made: it is served by that one, or makes way for a new one. */
  otherMajor: 'refused' | 'served' | 'moved-away';
}

export function makeHome(home: string): Result<null, EmbeddedFailure> {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    if (weAreRoot() && home === systemHome) chmodSync(home, 0o711);
    return ok(null);
  } catch (error) {
    return embeddedFailure('no-access', `the data directory cannot be made: ${(error as Error).message}`);
  }
}

/** What root wrote into another user's home, that user could not use afterwards. */
export function homeOfAnother(home: string): Result<null, EmbeddedFailure> {
  const { uid } = statSync(home);
  if (!weAreRoot() || uid === 0) return ok(null);
  return embeddedFailure('no-access', `${home} belongs to uid ${uid}, not to root`, 'start it as that user');
}

/** A server of ours that was started by rules that hold no more: as another's user, or with others let in. */
export function isOutdated(home: string, place: EmbeddedPlace): boolean {
  // Another user's is theirs to start anew.
  if (statSync(home).uid !== process.getuid?.()) return false;
  if (place.serverUser !== null && place.serverUser.name !== serverUserName) return true;
  try {
    return readOwnText(identFile(place)) !== identConf(callerName());
  } catch {
    return true;
  }
}

/** Everything the server needs but the cluster itself. Only under the lock, and only while no server runs. */
export async function prepare(home: string, wish: StartWish): Promise<Result<Prepared, EmbeddedFailure>> {
  const found = readPlace(home);
  const asMade = wish.otherMajor === 'served' && found !== null ? placeAsMade(found) : null;
  const recorded = asMade ?? found;
  const chosen = await chooseServerUser(wish);
  if (!chosen.ok) return chosen;
  const source = asMade === null ? choosePackage(recorded) : ok(null);
  if (!source.ok) return source;
  let answer: Result<Prepared, EmbeddedFailure> = embeddedFailure(
    'no-access',
    `PostgreSQL cannot be made below ${home}: " $ \` \\ or a line break in the path`,
    'choose another WATCHKEEPER_HOME',
  );
  for (const pgRoot of candidateRoots(home, recorded)) {
    try {
      answer = await prepareAt({ home, pgRoot, recorded, source: source.value, user: chosen.value, ...wish });
    } catch (error) {
      answer = embeddedFailure('no-access', `${pgRoot} cannot be prepared: ${(error as Error).message}`);
    }
    if (answer.ok) break;
  }
  return answer;
}

function candidateRoots(home: string, recorded: EmbeddedPlace | null): string[] {
  if (recorded !== null) return [rootOf(recorded)];
  const own = path.join(home, 'pg');
  const elsewhere = path.join(systemHome, `pg-${shortHash(home)}`);
  return [
    ...(shellSafe(own) && (!weAreRoot() || socketFits(path.join(own, 'run'))) ? [own] : []),
    ...(weAreRoot() ? [elsewhere] : []),
  ];
}

/** initdb itself runs `"<its folder>/postgres" -V` through a shell. */
function shellSafe(folder: string): boolean {
  return !/["$`\\\n]/.test(folder);
}

/** With the program that made the cluster, which stays beside the ones that came later. null: it is gone. */
function placeAsMade(place: EmbeddedPlace): EmbeddedPlace | null {
  if (!isInitialised(place)) return null;
  const major = clusterMajor(place);
  const versions = readdirSync(rootOf(place)).filter((name) => majorOf(name) === major && !name.includes('.tmp-'));
  const newest = versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
  return newest === undefined ? null : { ...place, binaries: path.join(rootOf(place), newest) };
}

/** A missing package is no reason to leave a database alone that has its server beside it. */
function choosePackage(recorded: EmbeddedPlace | null): Result<PostgresPackage | null, EmbeddedFailure> {
  const found = findPackage();
  if (!found.ok && recorded !== null && existsSync(recorded.binaries)) return ok(null);
  return found;
}

async function prepareAt(attempt: Attempt): Promise<Result<Prepared, EmbeddedFailure>> {
  const { home, pgRoot } = attempt;
  const made = makeRoot(pgRoot);
  const answer = await prepareIn(attempt, made);
  if (answer.ok) writePlace(home, answer.value.place);
  else if (made) rmSync(pgRoot, { recursive: true, force: true });
  return answer;
}

interface Attempt {
  home: string;
  pgRoot: string;
  recorded: EmbeddedPlace | null;
  source: PostgresPackage | null;
  user: OsUser | null;
  progress: StartWish['progress'];
}

async function prepareIn(attempt: Attempt, fresh: boolean): Promise<Result<Prepared, EmbeddedFailure>> {
  const { home, pgRoot, recorded, source, user } = attempt;
  // Only a hint that saves the copying; an existing place is judged by running the server in it.
  if (fresh && user !== null && !mayEnter(path.dirname(pgRoot), user)) return unreachable(pgRoot, user);

  if (user !== null) {
    const taken = await takeOver(pgRoot, recorded, user, attempt.progress);
    if (!taken.ok) return taken;
  }
  const binaries = source === null ? (recorded?.binaries ?? '') : path.join(pgRoot, source.version);
  const present = source === null ? existsSync(binaries) : existsSync(binaries) && isWhole(source.native, binaries);
  const usable = present ? await reachable(pgRoot, binaries, user) : null;
  if (usable?.ok === false && (source === null || usable.reason === 'no-access')) return usable;
  const socketDir = chooseSocketDir(home, pgRoot, recorded);
  const place: EmbeddedPlace = { binaries, cluster: clusterIn(pgRoot), socketDir, serverUser: user };
  // While root writes here, the server's user must not be able to put a link in the way.
  handTo(pgRoot, null);
  let startLog: number;
  try {
    if (source !== null && usable?.ok !== true) {
      attempt.progress(`copying PostgreSQL ${source.version} to ${pgRoot}`);
      const installed = await installBinaries(source, pgRoot);
      if (!installed.ok) return installed;
    }
    startLog = writeConf(place);
  } finally {
    handTo(pgRoot, user);
  }
  const checked = usable?.ok === true ? usable : await reachable(pgRoot, binaries, user);
  if (checked.ok) return ok({ place, startLog });
  closeSync(startLog);
  return checked;
}

function chooseSocketDir(home: string, pgRoot: string, recorded: EmbeddedPlace | null): string {
  const own = path.join(pgRoot, 'run');
  return socketFits(own) ? own : shortSocketDir(home, recorded?.socketDir ?? null);
}

function identFile(place: EmbeddedPlace): string {
  return path.join(confIn(rootOf(place)), 'pg_ident.conf');
}

function writeConf(place: EmbeddedPlace): number {
  const pgRoot = rootOf(place);
  if (path.dirname(place.socketDir) === pgRoot) makeFolder(place.socketDir, 0o700, place.serverUser);
  const conf = confIn(pgRoot);
  makeFolder(conf, 0o755, null);
  replaceFile(
    path.join(conf, 'postgresql.conf'),
    postgresConf(place, { confDir: conf, major: majorOf(place.binaries) }),
  );
  replaceFile(path.join(conf, 'pg_hba.conf'), hbaConf);
  replaceFile(identFile(place), identConf(callerName()));
  const { O_CREAT, O_TRUNC, O_APPEND, O_RDWR, O_NOFOLLOW } = constants;
  return openSync(path.join(conf, 'start.log'), O_CREAT | O_TRUNC | O_APPEND | O_RDWR | O_NOFOLLOW, 0o600);
}

/** The truth about a place: the server's user runs the server's binary there. root itself never runs what that user could have changed. */
async function reachable(
  pgRoot: string,
  binaries: string,
  user: OsUser | null,
): Promise<Result<null, EmbeddedFailure>> {
  const end = await runVersion(binaries, user);
  return user !== null && end.execError === 'EACCES' ? unreachable(pgRoot, user) : explainRun(end, binaries);
}

function unreachable(pgRoot: string, user: OsUser): Result<never, EmbeddedFailure> {
  return embeddedFailure('no-access', `the user ${user.name} cannot reach ${pgRoot}`);
}

function mayEnter(folder: string, user: OsUser): boolean {
  const { uid, gid, mode } = statSync(folder);
  const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
  const parent = path.dirname(folder);
  return (mode & bit) !== 0 && (parent === folder || mayEnter(parent, user));
}

function makeRoot(pgRoot: string): boolean {
  if (path.dirname(pgRoot) === systemHome) {
    mkdirSync(systemHome, { recursive: true, mode: 0o711 });
    const info = lstatSync(systemHome);
    if (!info.isDirectory() || info.uid !== 0) throw new Error(`${systemHome} does not belong to root`);
    if ((info.mode & 0o001) === 0) chmodSync(systemHome, 0o711);
  }
  if (existsSync(pgRoot)) return false;
  mkdirSync(pgRoot, { mode: 0o700 });
  return true;
}

function handTo(folder: string, user: OsUser | null): void {
  if (weAreRoot()) chownSync(folder, user?.uid ?? 0, user?.gid ?? 0);
  chmodSync(folder, 0o700);
}

function makeFolder(folder: string, mode: number, user: OsUser | null): void {
  const owner = user?.uid ?? process.getuid?.();
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found !== undefined && (!found.isDirectory() || found.uid !== owner)) {
    rmSync(folder, { recursive: true, force: true });
  }
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, mode);
  if (user !== null) lchownSync(folder, user.uid, user.gid);
}

function replaceFile(file: string, text: string): void {
  const fresh = `${file}.tmp-${process.pid}`;
  rmSync(fresh, { force: true });
  writeFileSync(fresh, text, { flag: 'wx' });
  chmodSync(fresh, 0o644);
  renameSync(fresh, file);
}
