import type { Home } from '../home/home.ts';
import { fail, ok, type Result } from '../model/result.ts';
import {
  embeddedRunning,
  embeddedUrl,
  embeddedUser,
  type StartOptions,
  startEmbedded,
  stopEmbedded,
} from '../record/embedded/server.ts';
import { migrate } from '../record/migrate.ts';

/** Where the rows go: the embedded server of this home, or the one DATABASE_URL names. */
export interface Database {
  url: string;
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
  options: Pick<StartOptions, 'progress' | 'notice' | 'createUser'>,
): Promise<Result<Database>> {
  const given = environment.DATABASE_URL;
  if (given) {
    const migrated = await migrate(given);
    if (!migrated.ok) return migrated;
    return ok({
      url: given,
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

/** For commands that only read: where the database is, without starting one. */
export function databaseUrl(home: Home, environment: NodeJS.ProcessEnv): Result<string, 'none'> {
  const url = environment.DATABASE_URL || embeddedUrl(home.dir);
  return url === null ? fail('none', 'there is no database yet', 'start the daemon with `watchkeeper up`') : ok(url);
}

/** Also what a killed daemon left behind. */
export function stopDatabase(home: Home): Promise<Result<'stopped' | 'not-running'>> {
  return stopEmbedded(home.dir);
}

export function databaseRuns(home: Home): boolean {
  return embeddedRunning(home.dir) !== null;
}

/** The OS user the embedded server runs as; null: it does not run. */
export function databaseUser(home: Home): string | null {
  return embeddedUser(home.dir);
}
