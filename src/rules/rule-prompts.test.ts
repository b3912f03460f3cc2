import { describe, expect, it } from 'vitest';
import { RuleWorld } from '../../test/runs/rule-world.ts';
import type { AgentView } from '../model/agent.ts';

const minute = 60_000;
const stopped: Partial<AgentView> = {
  lastTurn: 'failed',
  stopped: { sinceMs: 0, error: '529', errorKind: 'overloaded' },
};
const full: Partial<AgentView> = { band: { index: 3, sinceMs: 0 } };
const task = { task: 't1', output: '/tmp/t1.output' };

interface Kind {
  what: string;
  world: (killAt: number) => RuleWorld;
  /** So often one trouble is spoken of at most. */
  most: number;
}

const kinds: Kind[] = [
  { what: 'continue', world: (killAt) => new RuleWorld(stopped, { killAt }).trouble('silent-stop'), most: 3 },
  {
    what: 'stalled',
    world: (killAt) => new RuleWorld({}, { killAt }).trouble('stalled-turn').in('working'),
    most: 1,
  },
  {
    what: 'context-high',
    world: (killAt) => new RuleWorld(full, { killAt }).trouble('context-high', null, { percent: 74 }),
    most: 1,
  },
  {
    what: 'spawn-stalled',
    world: (killAt) => new RuleWorld({}, { killAt }).trouble('spawn-stalled', 't1', { ...task, minutes: 16 }),
    most: 1,
  },
  {
    what: 'spawn-failed',
    world: (killAt) => new RuleWorld({}, { killAt }).trouble('spawn-failed', 't1', { ...task, error: 'exit code 1' }),
    most: 1,
  },
  {
    what: 'spawn-abandoned',
    world: (killAt) => new RuleWorld({}, { killAt }).trouble('spawn-abandoned', 't1', { ...task, minutes: 31 }),
    most: 1,
  },
  {
    what: 'continue with a note',
    world: (killAt) =>
      new RuleWorld({ ...stopped, ...full }, { killAt })
        .trouble('context-high', null, { percent: 74 })
        .trouble('silent-stop'),
    most: 3,
  },
];

describe('a daemon killed at any row and any step of a delivery says nothing twice', () => {
  it.each(kinds)('$what', async ({ world: made, most }) => {
    let killAt = 1;
    for (; ; killAt += 1) {
      const world = made(killAt);
      await world.start();
      await world.pass(45 * minute);
      if (!world.isKilled) break;
      expect(world.typed.length, `killed at step ${killAt}`).toBeLessThanOrEqual(most);
      const notes = world.typed.filter(({ text }) => text.includes('74% full'));
      expect(notes.length, `killed at step ${killAt}`).toBeLessThanOrEqual(1);
      // One trouble stays one, or it would be counted anew.
      const checks = [...world.incidents.values()].map(({ check }) => check);
      expect(checks, `killed at step ${killAt}`).toHaveLength(new Set(checks).size);
      for (const [n, { atMs }] of world.typed.entries()) {
        const before = world.typed[n - 1];
        if (before !== undefined)
          expect(atMs - before.atMs, `killed at step ${killAt}`).toBeGreaterThanOrEqual(5 * minute);
      }
      // What stands still is set going all the same.
      if (most > 1) expect(world.typed.length, `killed at step ${killAt}`).toBeGreaterThanOrEqual(most - 1);
    }
    // The row of the incident, of the intent, the delivery, its outcome and what is noted of it.
    expect(killAt).toBeGreaterThan(10);
  });

  it('a question about hidden work, at its interval', async () => {
    let killAt = 1;
    for (; ; killAt += 1) {
      const world = new RuleWorld({}, { killAt, hasHiddenWork: true });
      await world.start();
      await world.pass(45 * minute);
      if (!world.isKilled) break;
      expect(world.typed.length, `killed at step ${killAt}`).toBeGreaterThanOrEqual(3);
      for (const [n, { atMs }] of world.typed.entries()) {
        const before = world.typed[n - 1];
        if (before !== undefined)
          expect(atMs - before.atMs, `killed at step ${killAt}`).toBeGreaterThanOrEqual(10 * minute);
      }
    }
    expect(killAt).toBeGreaterThan(5);
  });
});

describe('what may have been said and is not proved is not said again: a human is told, once', () => {
  it.each(kinds.filter(({ what }) => /^spawn-(?:stalled|failed)$/.test(what)))('$what', async ({ world: made }) => {
    const ends = new Set<string>();
    for (let killAt = 1; ; killAt += 1) {
      const world = made(killAt);
      await world.start();
      await world.pass(45 * minute);
      if (!world.isKilled) break;
      const proved = world.outcomes.filter(({ outcome }) => outcome === 'confirmed');
      expect(proved.length + world.told.length, `killed at step ${killAt}`).toBe(1);
      ends.add(proved.length > 0 ? 'proved' : `told, typed ${world.typed.length}`);
    }
    expect([...ends].sort()).toEqual(['proved', 'told, typed 0', 'told, typed 1']);
  });
});

it('a human is told once in an interval, at whatever row of it the daemon is killed', async () => {
  let killAt = 1;
  for (; ; killAt += 1) {
    const world = new RuleWorld({}, { killAt }).trouble('waiting-human').in('waiting');
    await world.start();
    await world.pass(29 * minute);
    if (!world.isKilled) break;
    expect(world.told, `killed at step ${killAt}`).toHaveLength(1);
    await world.pass(2 * minute);
    expect(world.told, `killed at step ${killAt}`).toHaveLength(2);
  }
  expect(killAt).toBeGreaterThan(5);
});

describe('what an earlier run said counts for the next one', () => {
  it('another trouble of the same agent waits for the interval', async () => {
    const world = new RuleWorld(full).trouble('context-high', null, { percent: 74 });
    await world.start();
    await world.pass(minute);
    await world.start();
    world.trouble('spawn-stalled', 't1', { ...task, minutes: 16 });
    await world.pass(3.5 * minute);
    expect(world.typed).toHaveLength(1);
    await world.pass(minute);
    expect(world.typed).toHaveLength(2);
  });

  it('an agent is asked about hidden work at its interval, however often the daemon is started anew', async () => {
    const world = new RuleWorld({}, { hasHiddenWork: true });
    await world.start();
    await world.pass(11 * minute);
    for (let n = 0; n < 10; n += 1) {
      await world.start();
      await world.pass(9 * minute);
    }
    const gaps = world.typed.slice(1).map(({ atMs }, n) => atMs - (world.typed[n]?.atMs ?? 0));
    expect(gaps.length).toBeGreaterThanOrEqual(8);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(10 * minute);
    expect(Math.max(...gaps)).toBeLessThan(11 * minute);
  });
});

describe('what is said to one agent', () => {
  it('is one prompt, led by what sets its work going; each trouble counts it', async () => {
    const world = new RuleWorld({ ...stopped, ...full });
    world.trouble('context-high', null, { percent: 74 }).trouble('silent-stop');
    await world.start();
    await world.pass(minute);
    expect(world.typed).toHaveLength(1);
    expect(world.typed[0]?.text).toMatch(
      /^The last turn ended .* Your context window is 74% full\..* \[wk-[0-9a-f]{4}\]$/,
    );
    const [intent] = world.actions;
    expect(world.actions).toHaveLength(1);
    expect(intent).toMatchObject({ trigger: 'rule:silent-stop' });
    expect(new Set(intent?.intent.findings as string[])).toEqual(new Set(world.incidents.keys()));
    expect([...world.incidents.values()].map(({ prompts }) => prompts)).toEqual([1, 1]);
  });

  it('is nothing but that, as long as it is not due: not a note, not a question about work', async () => {
    const limit = { sinceMs: Date.parse('2026-11-15T12:00:00Z'), error: '429', errorKind: 'rate_limit' };
    const world = new RuleWorld({ ...full, lastTurn: 'failed', stopped: limit }, { hasHiddenWork: true });
    world.trouble('context-high', null, { percent: 74 }).trouble('silent-stop');
    await world.start();
    await world.pass(55_000);
    expect(world.typed).toEqual([]);
    await world.pass(40_000);
    expect(world.typed).toHaveLength(1);
    expect(world.typed[0]?.text).toMatch(/^The last turn ended .*74% full/);
  });

  it('is nothing, until its record was read to the end: how its work stands is not known before', async () => {
    const world = new RuleWorld(full, { hasHiddenWork: true }).trouble('context-high', null, { percent: 74 });
    world.isReadUp = false;
    await world.start();
    await world.pass(20 * minute);
    expect(world.typed).toEqual([]);
    world.isReadUp = true;
    await world.pass(minute);
    expect(world.typed).not.toEqual([]);
  });

  it('says by its mark that it is beside the work', async () => {
    const world = new RuleWorld(full).trouble('context-high', null, { percent: 74 });
    await world.start();
    await world.pass(minute);
    expect(world.typed.map(({ text }) => text.replace(/[0-9a-f]{4}\]$/, ''))).toEqual([
      expect.stringMatching(/^Your context window is 74% full.* \[wk-n$/),
    ]);
  });

  it('waits for the row of its trouble', async () => {
    const world = new RuleWorld(stopped).trouble('silent-stop');
    await world.start();
    await world.pass(minute);
    expect(world.actions.every(({ finding }) => world.incidents.has(finding ?? ''))).toBe(true);
  });
});
