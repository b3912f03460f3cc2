import type { Home } from '../home/home.ts';
import { fail, ok, type Result } from '../model/result.ts';
import {
  embeddedFolder,
  embeddedRunning,
  embeddedUrl,
  embeddedUser,
  removeEmbedded,
  type StartOptions,
  startEmbedded,
  stopEmbedded,
} from '../record/embedded/server.ts';
import { holderOf, waitForLock } from '../record/lock-file.ts';
import { migrate } from '../record/migrate.ts';

/** Where the rows go: the embedded server of this home, or the one DATABASE_URL names. */
export interface Database {
  url: string;
  /** Of the tables' owner. */
  adminUrl: string;
  embedded: boolean;
  /** The embedded server does not run: a kill is noticed before there is a row to write. */
  isGone(): boolean;
  /** Starts the embedded server again if it is gone. */
  ensure(): Promise<Result<void>>;
  stop(): Promise<Result<'stopped' | 'not-running'>>;
}

export async function openDatabase(
  home: Home,
  environment: NodeJS.ProcessEnv,
  options: Omit<StartOptions, 'timeoutMs'>,
): Promise<Result<Database>> {
  const given = environment.DATABASE_URL;
  if (given) {
    const migrated = await migrate(given);
    if (!migrated.ok) return migrated;
    return ok({
      url: given,
      adminUrl: given,
      embedded: false,
      isGone: () => false,
      ensure: () => Promise.resolve(ok(undefined)),
      stop: () => Promise.resolve(ok('not-running')),
    });
  }
  const started = await startEmbedded(home.dir, options);
  if (!started.ok) return started;
  const migrated = await migrate(started.value.adminUrl);
  if (!migrated.ok) return migrated;
  return ok({
    url: started.value.url,
    adminUrl: started.value.adminUrl,
    embedded: true,
    isGone: () => embeddedRunning(home.dir) === null,
    async ensure() {
      if (embeddedRunning(home.dir) !== null) return ok(undefined);
      const again = await startEmbedded(home.dir, { ...options, timeoutMs: 20_000, progress: () => {} });
      return again.ok ? ok(undefined) : again;
    },
    stop: () => stopEmbedded(home.dir),
  });
}

const borrowMs = 60_000;

/**
 * For one piece of work, with a daemon or without: the embedded server is started for it and stopped again where no daemon has it.
 * One at a time then, or the first to end would stop it for all.
 */
export async function withDatabase<T, R extends string>(
  home: Home,
  environment: NodeJS.ProcessEnv,
  options: Pick<StartOptions, 'progress' | 'notice' | 'otherMajor'>,
  work: (database: Database) => Promise<Result<T, R>>,
): Promise<Result<T, R | 'unavailable'>> {
  const isDaemons = () => ![null, process.pid].includes(holderOf(home.daemonLock));
  const lock = environment.DATABASE_URL || isDaemons() ? null : await waitForLock(home.borrowLock, borrowMs);
  if (lock?.ok === false)
    return fail('unavailable', 'another command has started the database for itself', 'try again');
  try {
    const ran = databaseRuns(home);
    const database = await openDatabase(home, environment, options);
    if (!database.ok) return fail('unavailable', database.message, database.fix);
    const done = await work(database.value);
    if (!ran && !isDaemons()) await database.value.stop();
    return done;
  } finally {
    lock?.release();
  }
}

/** For commands that only read: where the database is, without starting one. */
export function databaseUrl(home: Home, environment: NodeJS.ProcessEnv): Result<string, 'none'> {
  const url = environment.DATABASE_URL || embeddedUrl(home.dir);
  return url === null ? fail('none', 'there is no database yet', 'start the daemon with `watchkeeper up`') : ok(url);
}

/** Also what a killed daemon left behind. */
export function stopDatabase(home: Home): Promise<Result<'stopped' | 'not-running'>> {
  return stopEmbedded(home.dir);
}

/** Of the embedded one; null: there is none. */
export function databaseFolder(home: Home): string | null {
  return embeddedFolder(home.dir);
}

/** Only while it does not run. */
export function removeDatabase(home: Home): Result<void> {
  return removeEmbedded(home.dir);
}

export function databaseRuns(home: Home): boolean {
  return embeddedRunning(home.dir) !== null;
}

/** The OS user the embedded server runs as; null: it does not run. */
export function databaseUser(home: Home): string | null {
  return embeddedUser(home.dir);
}
