import { closeSync, constants, lstatSync, openSync, realpathSync, rmSync, writeSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { makeFolder, writeByRename } from '../act/install/own-file.ts';
import { readOwnText } from '../act/own-text.ts';
import type { Caller } from '../model/caller.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { whyNotOurs } from '../record/own-folder.ts';
import { isAlive, readProcess } from '../record/own-process.ts';

/** The data directory: everything of Watchkeeper's own on this machine. */
export interface Home {
  dir: string;
  daemonFile: string;
  daemonLock: string;
  /** Of a command that has started the database for itself. */
  borrowLock: string;
  /** Under which id the rows of this directory stand. */
  hostFile: string;
  logFile: string;
  pausedFile: string;
  /** What agents run at every event, once `init` has been there: a script for each kind of client. */
  hooksDir: string;
  /** Where hooks leave their events. */
  inbox: string;
  /** What people were told while the database was away. */
  spoolDir: string;
  /** What people said about Watchkeeper itself, until the ledger has it. */
  wordsDir: string;
  /** What agents may write without a dialog, and how a hook finds out. */
  allowancesDir: string;
  /** What `init` did to which file. */
  installsDir: string;
  /** What conformance runs found, by version of the client. */
  conformanceDir: string;
  /** Which configuration files the last run had. */
  configFile: string;
}

export function findHome(environment: NodeJS.ProcessEnv): Home {
  const dir = path.resolve(environment.WATCHKEEPER_HOME || defaultDir(environment));
  return {
    dir,
    daemonFile: path.join(dir, 'daemon.json'),
    daemonLock: path.join(dir, 'daemon.lock'),
    borrowLock: path.join(dir, 'borrow.lock'),
    hostFile: path.join(dir, 'host.json'),
    logFile: path.join(dir, 'daemon.log'),
    pausedFile: path.join(dir, 'paused'),
    hooksDir: path.join(dir, 'hooks'),
    inbox: path.join(dir, 'inbox'),
    spoolDir: path.join(dir, 'spool'),
    wordsDir: path.join(dir, 'words'),
    allowancesDir: path.join(dir, 'allowances'),
    installsDir: path.join(dir, 'installs'),
    conformanceDir: path.join(dir, 'conformance'),
    configFile: path.join(dir, 'config-files.json'),
  };
}

function defaultDir(environment: NodeJS.ProcessEnv): string {
  if (process.getuid?.() === 0) return '/var/lib/watchkeeper';
  return path.join(environment.XDG_DATA_HOME || path.join(os.homedir(), '.local', 'share'), 'watchkeeper');
}

/** Made as far as needed; one that others could change is not used, since what stands there is obeyed. */
export function makeHomeDir(home: Home): Result<void, 'unusable'> {
  const unsafe = (why: string) => fail('unusable', `the data directory ${home.dir} ${why}`, homeFix);
  // Also before anything is made there.
  const before = whyNotSafe(home);
  if (before !== null) return unsafe(before);
  const made = makeFolder(home.dir, 0o700);
  const why = made.ok ? whyNotSafe(home) : null;
  if (why !== null) return unsafe(why);
  const inbox = made.ok ? makeFolder(home.inbox, 0o700) : made;
  if (inbox.ok) return ok(undefined);
  return fail('unusable', `the data directory cannot be made (${inbox.message})`, 'set WATCHKEEPER_HOME');
}

/** null: it is this user's alone, or not there. */
export function whyNotSafe(home: Home): string | null {
  try {
    return whyNotOurs(home.dir);
  } catch (error) {
    return `cannot be looked at (${(error as Error).message})`;
  }
}

export const homeFix = `\`chown\` and \`chmod go-w\` what is named, or set WATCHKEEPER_HOME to a directory of your own`;

/** `daemon.json`: how the others find the running daemon. */
export interface DaemonRecord {
  pid: number;
  startTicks: string;
  bootId: string;
  startedAt: string;
  version: string;
  sockets: { control: string };
  /** Whose record it is: in a copied directory it is about the other one's daemon. */
  dir: string;
}

export function writeDaemonRecord(home: Home, record: Omit<DaemonRecord, 'dir'>): Result<void, 'unusable'> {
  const text = `${JSON.stringify({ ...record, dir: realpathSync(home.dir) }, null, 2)}\n`;
  const written = writeByRename(home.daemonFile, Buffer.from(text), 0o600);
  return written.ok ? written : fail('unusable', `the data directory cannot be written (${written.message})`);
}

export function removeDaemonRecord(home: Home): void {
  rmSync(home.daemonFile, { force: true });
}

/** The daemon that runs now; a record of one that was killed is not. */
export function runningDaemon(home: Home): DaemonRecord | null {
  let record: DaemonRecord;
  let here: string;
  try {
    record = JSON.parse(readOwnText(home.daemonFile)) as DaemonRecord;
    here = realpathSync(home.dir);
  } catch {
    return null;
  }
  const { pid, startTicks, bootId, sockets, dir } = record;
  if (dir !== here) return null;
  if (typeof pid !== 'number' || typeof sockets?.control !== 'string') return null;
  return isAlive({ pid, startTicks, bootId }) ? record : null;
}

/** Whoever asks it would wait for nothing. */
export function isStopped({ pid }: DaemonRecord): boolean {
  return readProcess(pid)?.isStopped === true;
}

export function isRunning(daemon: DaemonRecord): boolean {
  return isAlive(daemon);
}

const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Works with daemon and database down, and holds at once: the file's existence is the pause. */
export function pause(home: Home, by: Caller, reason: string): Result<void, 'unusable'> {
  const made = makeHomeDir(home);
  if (!made.ok) return made;
  const text = `${JSON.stringify({ at: new Date().toISOString(), by, reason })}\n`;
  try {
    // In place: on a full disk there is room for an empty file, and that is enough.
    const fd = openSync(home.pausedFile, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, 0o600);
    try {
      writeSync(fd, text);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    const why = `the pause cannot be written (${(error as Error).message})`;
    if (!isPaused(home)) return fail('unusable', why, `make a file ${home.pausedFile}`);
  }
  return ok(undefined);
}

/** Looked up each time: it has to hold at once. Only a directory that is there and says that there is none is not paused. */
export function isPaused(home: Home): boolean {
  try {
    lstatSync(home.dir);
    return lstatSync(home.pausedFile, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

export function unpause(home: Home): void {
  rmSync(home.pausedFile, { force: true });
}
