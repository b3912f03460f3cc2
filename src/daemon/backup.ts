import { type Home, makeHomeDir, runningDaemon } from '../home/home.ts';
import { hostRecord, ownHost, takeOverHost } from '../home/host-id.ts';
import { version } from '../home/version.ts';
import { fail, type Result } from '../model/result.ts';
import {
  type Copied,
  type CopyFailure,
  type CopyOptions,
  openBackup,
  readBackup,
  writeBackup,
} from '../record/backup.ts';
import { acquireLock } from '../record/lock-file.ts';
import { databaseUrl, withDatabase } from '../rows/database.ts';

/** Everything on record into one file and back. */

export interface CopyWish extends CopyOptions {
  home: Home;
  environment: NodeJS.ProcessEnv;
  progress: (line: string) => void;
  /** What has to be known, however quiet it is to be. */
  notice: (line: string) => void;
}

export type { Copied, CopyFailure, CopyOptions };

/** Whether the daemon runs or not, also of a database that this version cannot serve any more. */
export async function backUp(file: string, wish: CopyWish): Promise<Result<Copied, CopyFailure>> {
  const { home, environment, ...told } = wish;
  const known = databaseUrl(home, environment);
  if (!known.ok) return fail('unavailable', known.message, known.fix);
  const maker = { version, host: hostRecord(home) };
  return withDatabase(home, environment, { ...told, otherMajor: 'served' }, ({ adminUrl }) =>
    writeBackup(adminUrl, file, maker, wish),
  );
}

/** Only while no daemon of this directory runs, and none can start. */
export async function restore(file: string, replace: boolean, wish: CopyWish): Promise<Result<Copied, CopyFailure>> {
  const { home, environment, signal, ...told } = wish;
  const backup = await openBackup(file, signal);
  if (!backup.ok) return backup;
  const made = makeHomeDir(home);
  if (!made.ok) return fail('unavailable', made.message, made.fix);
  const lock = acquireLock(home.daemonLock);
  if (!lock.ok) {
    if (lock.reason === 'unusable') return fail('unavailable', `the data directory is not usable (${lock.message})`);
    const pid = runningDaemon(home)?.pid ?? lock.owner.pid;
    return fail('in-use', `a daemon (pid ${pid}) writes to it`, 'stop it with `watchkeeper down`');
  }
  try {
    const id = ownHost(environment);
    const otherMajor = replace ? 'moved-away' : 'refused';
    const done = await withDatabase(home, environment, { ...told, otherMajor }, ({ adminUrl }) =>
      readBackup(adminUrl, backup.value, { ...wish, ownHost: id, replace }),
    );
    const { host, hosts } = backup.value.head;
    const isKnown = host === null || hosts.some((each) => each.id === id);
    if (!done.ok || isKnown) return done;
    const taken = takeOverHost(home, host);
    return taken.ok ? done : fail('unavailable', taken.message, taken.fix);
  } finally {
    lock.release();
  }
}
