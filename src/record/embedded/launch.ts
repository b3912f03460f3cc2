import { fstatSync, ftruncateSync, readdirSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readOwnText } from '../../act/own-text.ts';
import { ok, type Result } from '../../model/result.ts';
import { postgresIn } from './binaries.ts';
import { ensureDatabase } from './connect.ts';
import { type EmbeddedFailure, embeddedFailure } from './failure.ts';
import { confIn, type EmbeddedPlace, rootOf } from './place.ts';
import { clusterProcesses, findPostmaster, recordedPid, type ServerProcess, signal } from './postmaster.ts';
import type { Prepared } from './prepare.ts';
import { spawnAs } from './run-as.ts';

const pollMs = 10;
const retryMs = 200;
/** How long what a killed server left behind may take to end by itself. */
const orphanGraceMs = 5_000;
const logCharsMax = 20_000;

/** Waits for a server that is there; null: it went away. */
export async function untilReady(
  place: EmbeddedPlace,
  endMs: number,
): Promise<Result<ServerProcess, EmbeddedFailure> | null> {
  let last = '';
  for (;;) {
    const running = findPostmaster(place);
    if (running === null) return null;
    const { attempt, message } = await ensureDatabase(place);
    if (attempt === 'ready') return ok(running);
    if (attempt === 'refused') return embeddedFailure('start-failed', `PostgreSQL refuses us: ${message}`);
    last = message;
    if (performance.now() >= endMs) {
      return embeddedFailure(
        'timeout',
        `PostgreSQL (pid ${running.pid}) runs but does not answer on ${place.socketDir}: ${last}`,
        'wait and try again or `watchkeeper down`',
      );
    }
    await sleep(pollMs);
  }
}

/** Starts the server until one runs: a killed predecessor may still be in the way for a while. */
export async function launch(
  prepared: Prepared,
  endMs: number,
  progress: (line: string) => void,
): Promise<Result<ServerProcess, EmbeddedFailure>> {
  const { place, startLog } = prepared;
  let blockedSinceMs: number | null = null;
  for (;;) {
    ftruncateSync(startLog);
    const ready = await spawnAndWait(place, startLog, endMs);
    if (ready !== null) return ready;
    const said = readLog(startLog);
    if (!inTheWay(said)) {
      return embeddedFailure(
        'start-failed',
        `PostgreSQL did not start: ${reasonIn(said + latestLog(place))} (see ${logFolder(place)})`,
      );
    }
    if (performance.now() >= endMs) {
      return embeddedFailure('timeout', `an earlier server of ${place.cluster} does not end: ${reasonIn(said)}`);
    }
    blockedSinceMs ??= performance.now();
    if (performance.now() - blockedSinceMs > orphanGraceMs && findPostmaster(place) === null) {
      for (const orphan of clusterProcesses(place)) {
        progress(`ending process ${orphan.pid}, left over from a killed server`);
        signal(orphan, 'SIGKILL');
      }
    }
    await sleep(retryMs);
  }
}

async function spawnAndWait(
  place: EmbeddedPlace,
  startLog: number,
  endMs: number,
): Promise<Result<ServerProcess, EmbeddedFailure> | null> {
  const config = path.join(confIn(rootOf(place)), 'postgresql.conf');
  // Detached: Ctrl-C in our terminal must not reach it before the daemon's last rows do.
  const child = spawnAs(
    place.serverUser,
    [postgresIn(place.binaries), '-D', place.cluster, '-c', `config_file=${config}`],
    { cwd: rootOf(place), stdio: ['ignore', startLog, startLog], detached: true, env: staleOwner(place) },
  );
  child.unref();
  let ended: string | null = null;
  child.once('error', (error) => {
    ended = error.message;
  });
  child.once('exit', (code, killer) => {
    ended = killer ?? `exit code ${code}`;
  });
  for (;;) {
    const ready = await untilReady(place, endMs);
    if (ready !== null) return ready;
    if (ended !== null) return null;
    if (performance.now() >= endMs) {
      return embeddedFailure('timeout', `PostgreSQL (pid ${child.pid}) has not taken ${place.cluster} in time`);
    }
    await sleep(pollMs);
  }
}

/**
 * PostgreSQL believes a leftover postmaster.pid as long as any process of its user has that pid: another program after a
 * reboot, or a zombie nobody reaps. We know better and may not delete the file, but PostgreSQL ignores the pid it is told
 * is its grandparent's; it still checks the shared memory for survivors.
 */
function staleOwner(place: EmbeddedPlace): Record<string, string> {
  const pid = recordedPid(place);
  return pid === null || findPostmaster(place) !== null ? {} : { PG_GRANDPARENT_PID: String(pid) };
}

function inTheWay(log: string): boolean {
  return /lock file "postmaster\.pid" already exists|shared memory block .* is still in use|lock file ".*" is empty/.test(
    log,
  );
}

/** What it says to us while it starts, and to everyone, is not why it did not. */
const passing = /the database system is (starting up|shutting down|not yet accepting|in recovery)/;

function reasonIn(log: string): string {
  const found = log
    .split('\n')
    .filter((line) => /\b(FATAL|PANIC|ERROR)\b|error while loading/.test(line) && !passing.test(line));
  return found.at(-1) ?? (log.trim().split('\n').at(-1) || 'it said nothing');
}

function logFolder(place: EmbeddedPlace): string {
  return path.join(place.cluster, 'log');
}

/** Once the log collector runs, the last words are no longer on the standard error we gave it. */
function latestLog(place: EmbeddedPlace): string {
  try {
    const files = readdirSync(logFolder(place)).map((name) => path.join(logFolder(place), name));
    files.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
    return readOwnText(files[0] ?? '').slice(-logCharsMax);
  } catch {
    return '';
  }
}

function readLog(fd: number): string {
  const size = Math.min(fstatSync(fd).size, logCharsMax);
  const buffer = Buffer.alloc(size);
  readSync(fd, buffer, 0, size, 0);
  return buffer.toString('utf8');
}
