import { findHome, runningDaemon } from '../../home/home.ts';
import type { Result } from '../../model/result.ts';
import { databaseUrl, withDatabase } from '../../rows/database.ts';
import { CommandFailure, exit } from './outcome.ts';
import { say } from './output.ts';

export function needDatabaseUrl(): string {
  const url = databaseUrl(findHome(process.env), process.env);
  if (!url.ok) throw new CommandFailure(exit.noDatabase, url.message, url.fix ?? null);
  return url.value;
}

/** For whatever looks into the record: the embedded server is started for it where no daemon has it. */
export async function onRecord<T, R extends string>(
  work: (url: string) => Promise<Result<T, R>>,
): Promise<Result<T, R | 'unavailable'>> {
  const known = needDatabaseUrl();
  const home = findHome(process.env);
  if (process.env.DATABASE_URL || runningDaemon(home) !== null) return work(known);
  const progress = (line: string) => void (process.stderr.isTTY && say(line));
  return withDatabase(home, process.env, { progress }, ({ url }) => work(url));
}

/** Of one that asks for one agent's rows. */
export function queryFailure({ reason, message }: { reason: string; message: string }): CommandFailure {
  if (reason !== 'no-agent') return databaseFailure(message);
  return new CommandFailure(exit.notFound, message, '`watchkeeper status` lists them');
}

export function databaseFailure(message: string): CommandFailure {
  return new CommandFailure(exit.noDatabase, message, 'see `watchkeeper doctor`');
}
