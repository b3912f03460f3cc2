import { mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { type Hold, processName } from '../model/hold.ts';
import { HoldFiles } from './hold-files.ts';

const agent = { bootId: 'boot', pid: 7, startTicks: '70' };
const held = (by: number, renewedMs = 1): Hold => ({
  agent,
  holder: { bootId: 'boot', pid: by, startTicks: '1' },
  home: '/home',
  does: 'act',
  number: 1,
  renewedMs,
});

function folder(): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'wk-holds-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return path.join(dir, 'holds');
}

it('what another one wrote is read at once, also into a file that was read many times and looks like before', async () => {
  const files = new HoldFiles(folder());
  const file = path.join(files.folder, processName(agent));
  expect(files.read(agent)).toBeNull();
  expect(files.change(agent, () => held(1)).ok).toBe(true);
  // Old enough that what it says is kept.
  await sleep(1_100);
  for (let n = 0; n < 3; n += 1) expect(files.read(agent)?.holder.pid).toBe(1);
  const other = new HoldFiles(files.folder);
  for (let by = 2; by < 10; by += 1) {
    expect(other.change(agent, () => held(by)).ok).toBe(true);
    expect(files.read(agent)?.holder.pid).toBe(by);
  }
  // In place, of the same length, and with its time set back.
  await sleep(1_100);
  expect(files.read(agent)?.holder.pid).toBe(9);
  const before = new Date(Date.now() - 60_000);
  utimesSync(file, before, before);
  expect(files.read(agent)?.holder.pid).toBe(9);
  writeFileSync(file, readFileSync(file, 'utf8').replace('"pid":9', '"pid":8'));
  utimesSync(file, before, before);
  expect(files.read(agent)?.holder.pid).toBe(8);
  renameSync(file, `${file}.away`);
  symlinkSync(`${file}.away`, file);
  expect(files.read(agent)).toBeNull();
  rmSync(file);
  expect(files.read(agent)).toBeNull();
});
