// The temp folder of one test run. Whatever the tests start has it in its environment, command line or working
// directory; a database is named by the pg.json of its home. So all of it is found again when a run was cut short.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from './children.mjs';

const homeDepthMax = 5;
const settleMs = 5_000;
const downMs = 60_000;

export function startRun() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'wk-run-'));
  const tmp = path.join(folder, 'tmp');
  mkdirSync(tmp);
  // As open as the temp folder it stands for: tests start programs as other users.
  chmodSync(folder, 0o755);
  chmodSync(tmp, 0o1777);
  return folder;
}

/** Data directories that a test did not remove, with the database folders they name outside of the run. */
function homesIn(folder, depth = 0) {
  const entries = depth > homeDepthMax ? [] : listing(folder);
  const below = entries
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => homesIn(path.join(folder, name), depth + 1));
  const named = entries.some(({ name }) => name === 'pg.json') ? databaseFolders(path.join(folder, 'pg.json')) : null;
  return named === null ? below : [{ home: folder, database: named }, ...below];
}

function listing(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Only what is a database's own by its name: the file is a test's, and may say anything. */
function databaseFolders(file) {
  try {
    const { cluster, socketDir } = JSON.parse(readFileSync(file, 'utf8'));
    const folders = [path.dirname(path.resolve(cluster)), path.resolve(socketDir)];
    return folders.filter((place) => /^(\/var\/lib\/watchkeeper\/pg-|\/.*\/wk-)[\da-zA-Z]+$/.test(place));
  } catch {
    return [];
  }
}

function processesOf(folders) {
  return listing('/proc')
    .map(({ name }) => name)
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => ({ pid: Number(pid), command: read(pid, 'cmdline').replaceAll('\0', ' ').trim() }))
    .filter(({ pid, command }) => {
      const traces = `${command}\n${read(pid, 'environ')}\n${workingFolder(pid)}\n`;
      return folders.some((folder) => traces.includes(folder));
    });
}

function read(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

function workingFolder(pid) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

/** As a test of its own: the tests left no process behind. */
export async function checkLeftProcesses(folder) {
  const startMs = performance.now();
  const look = () => processesOf([folder, ...homesIn(folder).flatMap(({ database }) => database)]);
  while (look().length > 0 && performance.now() - startMs < settleMs) await sleep(100);
  const failures = look().map(({ pid, command }) => `process ${pid} is left: ${command.slice(0, 200)}`);
  return {
    name: 'nothing left',
    passed: failures.length === 0 ? 1 : 0,
    failed: failures.length === 0 ? 0 : 1,
    skipped: 0,
    failures,
    seconds: Math.round((performance.now() - startMs) / 1000),
  };
}

/** Stops and removes whatever is left, the run's folder last. */
export function endRun(folder) {
  const homes = homesIn(folder);
  for (const { home } of homes) {
    const env = { ...process.env, WATCHKEEPER_HOME: home, DATABASE_URL: '' };
    spawnSync(process.execPath, ['bin/watchkeeper', 'down'], { cwd: root, env, stdio: 'ignore', timeout: downMs });
  }
  const folders = [folder, ...homes.flatMap(({ database }) => database)];
  for (const { pid } of processesOf(folders)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Gone by itself.
    }
  }
  for (const place of folders.reverse()) rmSync(place, { recursive: true, force: true, maxRetries: 5 });
}
