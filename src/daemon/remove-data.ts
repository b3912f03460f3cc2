import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type Home, runningDaemon } from '../home/home.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { acquireLock } from '../record/lock-file.ts';
import { databaseFolder, removeDatabase, stopDatabase } from '../rows/database.ts';

/** What a data directory holds beside the files that `Home` names. */
const others = ['daemon.log.1', 'daemon.sock', 'hooks', 'pg', 'pg.json', 'pg.lock'];

export interface RemovedData {
  removed: string[];
  /** Folders that hold something that is not ours. */
  left: string[];
}

/** The data directory and its database, wherever that is; of what others put there, nothing. Not while a daemon runs. */
export async function removeData(home: Home): Promise<Result<RemovedData, 'in-use' | 'not-removed'>> {
  if (!existsSync(home.dir)) return ok({ removed: [], left: [] });
  const lock = acquireLock(home.daemonLock);
  if (!lock.ok && lock.reason === 'held')
    return fail(
      'in-use',
      `a daemon (pid ${runningDaemon(home)?.pid ?? lock.owner.pid}) runs`,
      'stop it with `watchkeeper down`',
    );
  if (!lock.ok) return fail('not-removed', lock.message);
  try {
    const stopped = await stopDatabase(home);
    if (!stopped.ok) return fail('not-removed', stopped.message, stopped.fix);
    const folder = databaseFolder(home);
    const gone = removeDatabase(home);
    if (!gone.ok) return fail('not-removed', gone.message, gone.fix);
    const own = Object.values(home).filter((file) => path.dirname(file) === home.dir);
    for (const file of [...own, ...others.map((name) => path.join(home.dir, name))])
      rmSync(file, { recursive: true, force: true });
    const elsewhere = folder === null || path.dirname(folder) === home.dir ? [] : [folder];
    const isEmpty = readdirSync(home.dir).length === 0;
    if (isEmpty) rmdirSync(home.dir);
    return ok({ removed: [...elsewhere, ...(isEmpty ? [home.dir] : [])], left: isEmpty ? [] : [home.dir] });
  } catch (error) {
    return fail('not-removed', `${home.dir} cannot be removed (${(error as Error).message})`);
  } finally {
    lock.release();
  }
}
