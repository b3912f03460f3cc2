import { findHome, runningDaemon } from '../../home/home.ts';
import { databaseUrl } from '../../rows/database.ts';
import { CommandFailure, exit } from './outcome.ts';

export function needDatabaseUrl(): string {
  const url = databaseUrl(findHome(process.env), process.env);
  if (!url.ok) throw new CommandFailure(exit.noDatabase, url.message, url.fix ?? null);
  return url.value;
}

/** Of one that asks for one agent's rows. */
export function queryFailure({ reason, message }: { reason: string; message: string }): CommandFailure {
  if (reason !== 'no-agent') return databaseFailure(message);
  return new CommandFailure(exit.notFound, message, '`watchkeeper status` lists them');
}

/** Without a daemon the embedded database is simply not running. */
export function databaseFailure(message: string): CommandFailure {
  const daemon = runningDaemon(findHome(process.env));
  if (daemon === null && !process.env.DATABASE_URL) {
    return new CommandFailure(
      exit.noDaemon,
      'no daemon is running, so the embedded database is not either',
      'start it with `watchkeeper up`',
    );
  }
  return new CommandFailure(exit.noDatabase, message, 'see `watchkeeper doctor`');
}
