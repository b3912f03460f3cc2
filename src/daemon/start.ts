import path from 'node:path';
import { openAllowances } from '../actions/allowances.ts';
import { loadForStart } from '../config/load.ts';
import { withMemory } from '../config/memory.ts';
import { watchConfig } from '../config/watch.ts';
import { watchOnly } from '../config/watch-only.ts';
import { makeHomeDir, runningDaemon } from '../home/home.ts';
import { claimHost } from '../home/host-id.ts';
import { fileLog } from '../home/log.ts';
import { Counters } from '../model/counters.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { listens } from '../record/listens.ts';
import { acquireLock, holderOf } from '../record/lock-file.ts';
import { openStore } from '../record/store.ts';
import { databaseRuns, openDatabase } from '../rows/database.ts';
import { OddRows } from '../rows/odd-rows.ts';
import { systemClock } from '../sense/clock.ts';
import { refreshScript } from '../setup/init.ts';
import { Daemon, type DaemonOptions, type RunningDaemon, type StartFailure } from './daemon.ts';
import { forgetful } from './redact.ts';
import type { StatusDocument } from './status.ts';

/** How long a changed configuration file has to be as it is. */
const configHeldMs = 1_000;

/** One full round without a daemon: look, record, act, and stop again. The database is left as it was found. */
export async function runOnce(
  options: Omit<DaemonOptions, 'watchOnly' | 'isOnce'>,
): Promise<Result<StatusDocument, StartFailure>> {
  const keepDb = databaseRuns(options.home);
  const started = await startDaemon({ ...options, watchOnly: false, isOnce: true });
  if (!started.ok) return started;
  await started.value.looked();
  // As it was found: what is done about it may have mended it by the time it is done.
  const status = started.value.status();
  await started.value.settled();
  started.value.stop(keepDb);
  await started.value.stopped;
  return ok(status);
}

export async function startDaemon(options: DaemonOptions): Promise<Result<RunningDaemon, StartFailure>> {
  const { home } = options;
  if (process.platform !== 'linux')
    return fail('platform', `${process.platform} is not supported yet`, 'run it on Linux');
  // Whatever is made from here on, sockets too, is for this user alone.
  process.umask(0o077);
  const made = makeHomeDir(home);
  if (!made.ok) return fail('home', made.message, made.fix);
  // From another container its pid is not to be seen, and its lock looks like that of a dead one.
  if ((await listens(path.join(home.dir, 'daemon.sock'))) && holderOf(home.daemonLock) === null)
    return fail('already-running', `a daemon that cannot be seen from here, as in another container, has ${home.dir}`);
  const lock = acquireLock(home.daemonLock);
  if (!lock.ok) {
    if (lock.reason === 'unusable') return fail('home', `the data directory is not usable (${lock.message})`);
    const pid = runningDaemon(home)?.pid ?? lock.owner.pid;
    return fail(
      'already-running',
      `a daemon (pid ${pid}) already watches ${home.dir}`,
      'stop it with `watchkeeper down`',
    );
  }
  const started = await startLocked(options);
  if (!started.ok) {
    lock.release();
    return started;
  }
  void started.value.stopped.then(() => lock.release());
  return started;
}

async function startLocked(options: DaemonOptions): Promise<Result<RunningDaemon, StartFailure>> {
  const loaded = loadForStart(options.places);
  if (!loaded.ok) return fail('config', loaded.message);
  const config = withMemory(options.home, loaded.value, options.places.home);
  const host = claimHost(options.home);
  if (!host.ok) return fail('home', host.message, host.fix);
  refreshScript(options.home);
  openAllowances(options.home, systemClock.nowMs());
  options.progress('starting the database');
  const database = await openDatabase(options.home, options.environment, options);
  if (!database.ok) return fail('database', database.message, database.fix);
  const log = fileLog(options.home.logFile);
  const odd = new OddRows(new Counters(), (line) => log.write('warn', line));
  const store = forgetful(openStore(database.value.url, odd.note));
  const watched = watchConfig(options.places, config, () => performance.now(), configHeldMs);
  const daemon = new Daemon(
    options,
    options.watchOnly ? watchOnly(watched) : watched,
    database.value,
    store,
    host.value,
    odd,
  );
  const running = await daemon.start();
  if (!running.ok) {
    await store.close();
    await database.value.stop();
  }
  return running;
}
