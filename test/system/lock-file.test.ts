import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { acquireLock, waitForLock } from '../../src/record/lock-file.ts';
import { ownProcess, readProcess } from '../../src/record/own-process.ts';

let folder: string;
let count = 0;

beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'wk-test-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function newPath(): string {
  count += 1;
  return path.join(folder, `lock-${count}`);
}

/** What a process of this pid that is no more would have left. */
function deadOwner(changed: object = {}): string {
  return JSON.stringify({ ...ownProcess(), nonce: 'ab12', extra: null, ...changed });
}

it('a lock is held once and free after its release', () => {
  const file = newPath();
  const first = acquireLock(file, { socket: '/run/x' });
  expect(acquireLock(file)).toMatchObject({
    ok: false,
    reason: 'held',
    owner: { pid: process.pid, extra: { socket: '/run/x' } },
  });
  if (first.ok) first.release();
  expect(existsSync(file)).toBe(false);
  expect(acquireLock(file).ok).toBe(true);
});

it.each([
  ['another start time', deadOwner({ startTicks: '1' })],
  ['another boot', deadOwner({ bootId: 'before' })],
  ['no such process', deadOwner({ pid: 4_194_303 })],
  ['an empty file', ''],
])('a lock left by a dead owner is taken over: %s', (_, text) => {
  const file = newPath();
  writeFileSync(file, text);
  expect(acquireLock(file).ok).toBe(true);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ ...ownProcess() });
  expect(readdirSync(folder).filter((name) => name.startsWith(`${path.basename(file)}.`))).toEqual([]);
});

it('a contender that died while taking over is no obstacle', () => {
  const file = newPath();
  writeFileSync(file, deadOwner({ startTicks: '1', nonce: 'aa' }));
  writeFileSync(`${file}.over-aa`, deadOwner({ startTicks: '1', nonce: 'bb' }));
  writeFileSync(`${file}.over-aa.over-bb`, deadOwner({ startTicks: '1', nonce: 'cc' }));
  expect(acquireLock(file).ok).toBe(true);
});

it('a live contender that is taking over is waited for', async () => {
  const file = newPath();
  writeFileSync(file, deadOwner({ startTicks: '1', nonce: 'aa' }));
  const guard = acquireLock(`${file}.over-aa`);
  expect(acquireLock(file)).toMatchObject({ ok: false, reason: 'held' });
  const waiting = waitForLock(file, 10_000);
  if (guard.ok) guard.release();
  expect((await waiting).ok).toBe(true);
});

it('a release leaves the lock of somebody else alone', () => {
  const file = newPath();
  const lock = acquireLock(file);
  const other = deadOwner({ nonce: 'cd34' });
  writeFileSync(file, other);
  if (lock.ok) lock.release();
  expect(readFileSync(file, 'utf8')).toBe(other);
});

it('a folder that is not there is an answer, not an exception', () => {
  expect(acquireLock(path.join(folder, 'none', 'lock'))).toMatchObject({ ok: false, reason: 'unusable' });
});

it('a command with blanks and parentheses does not hide the start time', async () => {
  const odd = path.join(folder, 'a) R 1 (b');
  symlinkSync('/usr/bin/sleep', odd);
  const child = spawn(odd, ['60'], { stdio: 'ignore' });
  await new Promise((resolve) => child.once('spawn', resolve));
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'latin1');
  expect(stat).toContain('(a) R 1 (b)');
  expect(readProcess(child.pid ?? 0)?.startTicks).toBe(stat.trim().split(' ').at(-31));
  child.kill('SIGKILL');
});

it('many processes that find the same dead lock are never inside together', async () => {
  const repository = path.resolve(import.meta.dirname, '../..');
  const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  const flags =
    '--ignoreConfig --rootDir src --module nodenext --target es2023 --lib es2024 --types node --skipLibCheck --allowImportingTsExtensions --rewriteRelativeImportExtensions';
  const argv = [tsc, 'src/record/lock-file.ts', '--outDir', folder, ...flags.split(' ')];
  expect(spawnSync(process.execPath, argv, { cwd: repository }).status).toBe(0);
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  // Each round leaves the lock dead half of the time, by exiting inside it.
  writeFileSync(
    path.join(folder, 'contend.js'),
    `import { openSync, closeSync, rmSync } from 'node:fs';
     import { waitForLock } from './record/lock-file.js';
     const [file, leave] = process.argv.slice(2);
     for (let round = 0; round < 40; round += 1) {
       const lock = await waitForLock(file, 30000);
       if (!lock.ok) process.exit(3);
       try { closeSync(openSync(file + '-inside', 'wx')); } catch { process.exit(4); }
       rmSync(file + '-inside');
       if (leave === 'die' && round === 5) process.exit(0);
       lock.release();
     }`,
  );
  const file = newPath();
  writeFileSync(file, deadOwner({ startTicks: '1' }));
  const ends = Array.from({ length: 8 }, (_, index) => {
    const child = spawn(process.execPath, [path.join(folder, 'contend.js'), file, index % 2 ? 'die' : 'live']);
    return new Promise((resolve) => child.once('exit', resolve));
  });
  expect(await Promise.all(ends)).toEqual(ends.map(() => 0));
});
