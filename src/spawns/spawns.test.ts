// The whole watch over spawns on simulated clocks and files.
import { beforeEach, describe, expect, it } from 'vitest';
import { minute, shell, tell, tracked, view, World } from '../../test/runs/spawn-world.ts';
import type { SpawnEnd } from '../model/spawn.ts';
import type { FileInfo } from '../model/world.ts';
import type { Spawns } from './spawns.ts';

let world: World;
let spawns: Spawns;
const findings = () => world.board.view('p-ps')?.findings.map(({ check, subject }) => `${check} ${subject}`);

beforeEach(() => {
  world = new World();
  spawns = world.daemon();
});

describe('thresholds', () => {
  it('are met to the millisecond: stalled after 15 minutes, abandoned after 30, running with the next byte', () => {
    const works = [shell(world, 'b1')];
    world.write('/tmp/b1.output');
    tell(spawns, world, works);
    world.pass(15 * minute - 1);
    world.look(spawns);
    expect(world.status('b1')).toBe('running');
    world.pass(1);
    world.look(spawns);
    expect(world.status('b1')).toBe('stalled');
    expect(findings()).toEqual(['spawn-stalled b1']);
    world.pass(15 * minute);
    world.look(spawns);
    expect(world.status('b1')).toBe('abandoned');
    expect(findings()).toEqual(['spawn-abandoned b1']);
    world.write('/tmp/b1.output');
    world.look(spawns);
    expect(world.status('b1')).toBe('running');
    expect(findings()).toEqual([]);
    expect(world.checks.map(({ status, details }) => `${status} ${details.spawn_status}`)).toEqual([
      'warning stalled',
      'critical abandoned',
      'ok running',
    ]);
  });

  it('one byte in 14 of every 15 minutes is healthy, for hours', () => {
    const works = [shell(world, 'b1')];
    tell(spawns, world, works);
    for (let minutes = 0; minutes < 280; minutes += 1) {
      if (minutes % 14 === 0) world.write('/tmp/b1.output');
      world.pass(minute);
      world.look(spawns);
    }
    expect(world.checks).toEqual([]);
  });

  it('a suspended laptop and a corrected clock age nothing', () => {
    world.write('/tmp/b1.output');
    tell(spawns, world, [shell(world, 'b1')]);
    world.nowMs += 600 * minute;
    world.look(spawns);
    expect(world.status('b1')).toBe('running');
    world.nowMs -= 900 * minute;
    world.look(spawns);
    world.pass(14 * minute);
    world.look(spawns);
    expect(world.checks).toEqual([]);
  });

  it('a file older than the spawn says nothing about it', () => {
    world.write('/tmp/t1.log', { mtimeMs: world.nowMs - 600 * minute });
    tracked(world, 1);
    return spawns.restore().then(() => {
      world.look(spawns);
      expect(world.status('t1')).toBe('running');
      world.pass(15 * minute);
      world.look(spawns);
      expect(world.status('t1')).toBe('stalled');
    });
  });
});

describe('a daemon that was away', () => {
  it('finds by the file what happened meanwhile: one that grew runs, one that did not is stalled', async () => {
    tracked(world, 1, { noticed: 'running' });
    tracked(world, 2, { noticed: 'running' });
    world.write('/tmp/t1.log');
    world.write('/tmp/t2.log');
    world.pass(60 * minute);
    world.write('/tmp/t1.log', { mtimeMs: world.nowMs - minute });
    world.monotonicMs = 5;
    spawns = world.daemon();
    await spawns.restore();
    world.look(spawns);
    expect(world.status('t1')).toBe('running');
    expect(world.status('t2')).toBe('abandoned');
  });

  it('does not count its own absence against work that shows nothing', async () => {
    tracked(world, 1, { output: null, noticed: 'running' });
    tracked(world, 2, { noticed: 'running' });
    world.pass(600 * minute);
    await spawns.restore();
    world.look(spawns);
    expect(world.status('t1')).toBe('running');
    expect(world.status('t2')).toBe('running');
    world.pass(15 * minute);
    world.look(spawns);
    expect(world.status('t1')).toBe('running');
    expect(world.status('t2')).toBe('stalled');
    world.pass(15 * minute);
    world.look(spawns);
    expect(world.status('t1')).toBe('abandoned');
  });

  it('goes on where it was: a stall is neither told again nor forgotten', async () => {
    const spawnedAtMs = world.nowMs - 20 * minute;
    tracked(world, 1, { status: 'stalled', noticed: 'stalled', output: '/tmp/never-there', spawnedAtMs });
    await spawns.restore();
    world.look(spawns);
    expect(findings()).toEqual(['spawn-stalled t1']);
    expect(world.checks).toEqual([]);
  });

  it('tells what somebody wrote while it was away', async () => {
    tracked(world, 1, { status: 'failed', reason: 'exit 3', endedAtMs: world.nowMs, noticed: 'running' });
    tracked(world, 2, { status: 'failed', reason: 'exit 3', endedAtMs: world.nowMs, noticed: 'failed' });
    await spawns.restore();
    world.look(spawns);
    expect(findings()).toEqual(['spawn-failed t1']);
  });

  it('tells what was seen to fail a moment before the daemon died, without a trouble about it', async () => {
    tracked(world, 1, { status: 'failed', endedAtMs: world.nowMs, noticed: 'failed', isUnopened: true });
    await spawns.restore();
    world.look(spawns);
    expect(findings()).toEqual(['spawn-failed t1']);
  });

  it('and nothing of what was over before it ever looked', () => {
    world.pass(10 * minute);
    spawns = world.daemon();
    const end: SpawnEnd = { how: 'failed', atMs: world.nowMs - minute, text: 'exit 3' };
    tell(spawns, world, [shell(world, 'b1', { sinceMs: world.nowMs - 5 * minute })], [['b1', end]]);
    expect(findings()).toEqual([]);
    expect(world.status('b1')).toBe('failed');
  });
});

describe('output files of all kinds', () => {
  it.each<[string, Partial<FileInfo> | null, string]>([
    ['missing', null, 'its output file is not there'],
    ['a link', { kind: 'symlink' }, 'its output file is a link, which is not followed'],
    ['a FIFO', { kind: 'other' }, 'its output file is no regular file'],
    ['a folder', { kind: 'directory' }, 'its output file is no regular file'],
    ["another user's", { uid: 0 }, 'its output file belongs to another user'],
  ])('%s: running with the reason, stalled for lack of any sign', async (_what, info, reason) => {
    tracked(world, 1);
    if (info !== null) world.write('/tmp/t1.log', info);
    await spawns.restore();
    world.look(spawns);
    expect(world.rows.at(-1)).toMatchObject({ status: 'running', reason });
    world.pass(15 * minute);
    if (info !== null) world.write('/tmp/t1.log', info);
    world.look(spawns);
    expect(world.rows.at(-1)).toMatchObject({ status: 'stalled', reason });
  });

  it('rotated and truncated: followed', async () => {
    tracked(world, 1);
    world.write('/tmp/t1.log', { size: 5_000 });
    await spawns.restore();
    world.look(spawns);
    for (const given of [
      { inode: '2', size: 0 },
      { inode: '2', size: 90 },
      { inode: '2', size: 3 },
    ]) {
      world.pass(14 * minute);
      world.write('/tmp/t1.log', given);
      world.look(spawns);
    }
    expect(world.status('t1')).toBe('running');
    expect(world.checks).toEqual([]);
  });

  it('written by two: both have its growth, and say so', async () => {
    tracked(world, 1, { output: '/tmp/both.log' });
    tracked(world, 2, { output: '/tmp/both.log' });
    await spawns.restore();
    for (let round = 0; round < 3; round += 1) {
      world.write('/tmp/both.log');
      world.look(spawns);
      world.pass(14 * minute);
    }
    expect(world.checks).toEqual([]);
    expect(world.rows.map(({ reason }) => reason)).toContain('shares its output file with t2');
    expect(world.rows.map(({ reason }) => reason)).toContain('shares its output file with t1');
  });

  it('that ends like a failure: a doubt after a minute, a stall after half the time', async () => {
    tracked(world, 1);
    world.write('/tmp/t1.log');
    world.texts.set('/tmp/t1.log', 'npm ERR! code 1\n');
    await spawns.restore();
    world.look(spawns);
    world.pass(minute);
    world.look(spawns);
    expect(findings()).toEqual(['spawn-looks-failed t1']);
    world.pass(6.5 * minute);
    world.look(spawns);
    expect(findings()).toEqual(['spawn-stalled t1']);
  });
});

describe('how it ended', () => {
  const failed = (atMs: number): SpawnEnd => ({ how: 'failed', atMs, text: 'exit code 3' });

  it('a failed shell that its parent took up by itself needs no word', () => {
    const works = [shell(world, 'b1')];
    tell(spawns, world, works);
    tell(spawns, world, works, [['b1', failed(world.nowMs)]]);
    expect(world.status('b1')).toBe('failed');
    expect(findings()).toEqual([]);
    world.pass(5_000);
    world.view = view('idle', { lastTurn: 'ok', lastTurnAtMs: world.nowMs });
    world.look(spawns);
    world.pass(5 * minute);
    world.look(spawns);
    expect(findings()).toEqual([]);
  });

  it('one that nobody took up is found after a minute, until its parent was asked', () => {
    const works = [shell(world, 'b1')];
    tell(spawns, world, works);
    tell(spawns, world, works, [['b1', failed(world.nowMs)]]);
    world.pass(minute);
    world.look(spawns);
    expect(findings()).toEqual(['spawn-failed b1']);
    world.incidents.set('p-ps spawn-failed b1', { ackedMs: null, lastPromptMs: world.nowMs });
    world.look(spawns);
    expect(findings()).toEqual([]);
  });

  it('a failed subagent is found at once', () => {
    const works = [shell(world, 'a1', { kind: 'subagent' })];
    tell(spawns, world, works);
    tell(spawns, world, works, [['a1', failed(world.nowMs)]]);
    expect(findings()).toEqual(['spawn-failed a1']);
  });

  it('stopped on purpose is no trouble', () => {
    const works = [shell(world, 'a1', { kind: 'subagent' })];
    tell(spawns, world, works);
    tell(spawns, world, works, [['a1', { how: 'stopped', atMs: world.nowMs, text: null }]]);
    expect(findings()).toEqual([]);
    expect(world.status('a1')).toBe('failed');
  });

  it('a subagent that is sent on runs again', () => {
    const works = [shell(world, 'a1', { kind: 'subagent' })];
    tell(spawns, world, works, [['a1', { how: 'finished', atMs: world.nowMs, text: null }]]);
    expect(world.rows.at(-1)).toMatchObject({ status: 'finished', endedAtMs: world.nowMs });
    tell(spawns, world, works);
    expect(world.rows.at(-1)).toMatchObject({ status: 'running', endedAtMs: null });
  });

  it('a row that somebody removed is no longer watched; one begun anew begins anew', async () => {
    tracked(world, 1);
    await spawns.restore();
    world.look(spawns);
    world.pass(15 * minute);
    world.look(spawns);
    expect(world.status('t1')).toBe('stalled');
    world.stored.delete(1);
    tracked(world, 2, { taskId: 't1', output: '/tmp/t1.log' });
    await spawns.refresh();
    world.look(spawns);
    expect(world.rows.at(-1)).toMatchObject({ id: 2, taskId: 't1', status: 'running' });
    world.stored.clear();
    await spawns.refresh();
    world.pass(60 * minute);
    world.look(spawns);
    expect(findings()).toEqual([]);
  });
});

it('an output that grows all the time is not written down all the time', () => {
  tell(spawns, world, [shell(world, 'b1')]);
  for (let step = 0; step < 40; step += 1) {
    world.pass(500);
    world.write('/tmp/b1.output');
    world.look(spawns);
  }
  expect(world.rows.length).toBeLessThanOrEqual(7);
});
