// Work and the agent it was begun for, on simulated clocks and files.
import { beforeEach, describe, expect, it } from 'vitest';
import { minute, shell, tell, tracked, view, World } from '../../test/runs/spawn-world.ts';
import type { SpawnEnd } from '../model/spawn.ts';
import type { Spawns } from './spawns.ts';

let world: World;
let spawns: Spawns;
const findings = () => world.board.view('p-ps')?.findings.map(({ check, subject }) => `${check} ${subject}`);

beforeEach(() => {
  world = new World();
  spawns = world.daemon();
});

describe('the parent', () => {
  it('that waits for a permission of its subagent holds the clock', () => {
    const works = [shell(world, 'a1', { kind: 'subagent', callOpen: true })];
    world.write('/tmp/a1.output');
    tell(spawns, world, works);
    world.view = view('waiting');
    for (let minutes = 0; minutes < 60; minutes += 1) {
      world.pass(minute);
      world.look(spawns);
    }
    expect(world.rows.at(-1)).toMatchObject({ status: 'running', reason: 'waits for a permission' });
    world.view = view('idle');
    world.pass(15 * minute - 1);
    world.look(spawns);
    expect(world.checks).toEqual([]);
    world.pass(1);
    world.look(spawns);
    expect(world.status('a1')).toBe('stalled');
  });

  it('that was cleared leaves orphans, whose record goes on in the folder of the new session', () => {
    const works = [shell(world, 'a1', { kind: 'subagent', output: '/tmp/old/agent-a1.jsonl' }), shell(world, 'b1')];
    world.write('/tmp/old/agent-a1.jsonl');
    world.write('/tmp/b1.output');
    tell(spawns, world, works);
    world.view = view('idle', { sessionId: 's2' });
    tell(spawns, world, []);
    expect(findings()).toEqual(['orphaned-work s1']);
    world.pass(14 * minute);
    world.write('/tmp/new/agent-a1.jsonl');
    world.look(spawns);
    world.pass(minute);
    world.look(spawns);
    expect(world.status('a1')).toBe('running');
    expect(world.rows.findLast(({ taskId }) => taskId === 'a1')?.output).toBe('/tmp/new/agent-a1.jsonl');
    expect(world.status('b1')).toBe('stalled');
    expect(findings()).toEqual(['orphaned-work s1']);
    const end: SpawnEnd = { how: 'finished', atMs: world.nowMs, text: null };
    tell(
      spawns,
      world,
      [],
      [
        ['a1', end],
        ['b1', end],
      ],
    );
    expect(findings()).toEqual([]);
    expect(world.checks.filter(({ type }) => type === 'orphaned_work').map(({ status }) => status)).toEqual([
      'warning',
      'ok',
    ]);
  });

  it('that was handed over to a fresh session takes all its work along, and is asked about it as before', async () => {
    const works = [shell(world, 'b1'), shell(world, 'b2')];
    const running = () => [...spawns.running('p-ps')].sort();
    tracked(world, 1, { output: '/tmp/t1.log' });
    await spawns.restore();
    tell(spawns, world, works);
    expect(running()).toEqual(['b1', 'b2', 't1']);
    // Between the clear and the resume prompt nobody knows yet whose session it is.
    world.handedOver = () => null;
    world.view = view('idle', { sessionId: 's2' });
    tell(spawns, world, []);
    expect(findings()).toEqual([]);
    world.handedOver = (from, to) => from === 's1' && to === 's2';
    world.look(spawns);
    expect(world.rows.slice(-3).map(({ sessionId }) => sessionId)).toEqual(['s2', 's2', 's2']);
    expect(running()).toEqual(['b1', 'b2', 't1']);
    // However long ago the handoff is, by then.
    world.handedOver = () => false;
    tell(spawns, world, [], [['b2', { how: 'failed', atMs: world.nowMs, text: 'exit code 3' }]]);
    world.pass(15 * minute);
    world.look(spawns);
    expect(findings()?.sort()).toEqual(['spawn-failed b2', 'spawn-stalled b1', 'spawn-stalled t1']);
    world.pass(15 * minute);
    world.look(spawns);
    expect(findings()?.sort()).toEqual(['spawn-abandoned b1', 'spawn-abandoned t1', 'spawn-failed b2']);
  });

  it('that was handed over and put back has its work again; cleared by hand then, it leaves orphans', () => {
    tell(spawns, world, [shell(world, 'b1')]);
    world.handedOver = (from, to) => from !== 's3' && to !== 's3';
    world.view = view('idle', { sessionId: 's2' });
    tell(spawns, world, []);
    world.view = view('idle', { sessionId: 's1' });
    tell(spawns, world, [shell(world, 'b1')]);
    expect([findings(), world.rows.at(-1)?.sessionId]).toEqual([[], 's1']);
    world.view = view('idle', { sessionId: 's3' });
    tell(spawns, world, []);
    expect(findings()).toEqual(['orphaned-work s1']);
  });

  it('that ended takes its subagents along, and leaves its shells behind', () => {
    const works = [shell(world, 'a1', { kind: 'subagent' }), shell(world, 'b1')];
    tell(spawns, world, works);
    world.view = view('ended');
    world.look(spawns);
    expect(world.status('a1')).toBe('abandoned');
    expect(world.status('b1')).toBe('running');
    expect(findings()).toEqual(['orphaned-work s1']);
  });

  it('is found for what was tracked without one; without any it is nobody', async () => {
    tracked(world, 1, { agent: null, sessionId: null });
    tracked(world, 2, { agent: null, sessionId: null, project: 'elsewhere' });
    await spawns.restore();
    world.look(spawns);
    world.pass(15 * minute);
    world.look(spawns);
    expect(findings()).toEqual(['spawn-stalled t1']);
    expect(world.board.loose()).toMatchObject([
      { project: 'elsewhere', finding: { check: 'spawn-stalled', subject: 't2' } },
    ]);
  });

  it('that answers for what cannot be seen keeps it alive; once it does not, that counts as abandoned', async () => {
    tracked(world, 1, { output: null });
    tracked(world, 2);
    await spawns.restore();
    world.look(spawns);
    for (let asked = 0; asked < 12; asked += 1) {
      world.pass(10 * minute);
      spawns.answered('p-ps', null);
      world.look(spawns);
    }
    expect(world.status('t1')).toBe('running');
    // Its output would say more.
    expect(world.status('t2')).toBe('abandoned');
    world.pass(30 * minute);
    world.look(spawns);
    expect(findings()).toContain('spawn-abandoned t1');
    // Asked about it once more, and not about this one.
    spawns.answered('p-ps', ['t2']);
    world.look(spawns);
    expect(findings()).toContain('spawn-abandoned t1');
    spawns.answered('p-ps', ['t1']);
    world.look(spawns);
    expect(findings()).toEqual(['spawn-abandoned t2']);
    expect(spawns.progress('p-ps')).toMatchObject({ hidden: true });
  });

  it('is asked for progress only about what cannot be seen', async () => {
    tracked(world, 1);
    await spawns.restore();
    world.look(spawns);
    expect(spawns.progress('p-ps')).toMatchObject({ hidden: false });
    tracked(world, 2, { output: null });
    await spawns.refresh();
    world.look(spawns);
    expect(spawns.progress('p-ps')).toMatchObject({ hidden: true });
  });
});
