// The wall clock is set in the middle of a handoff, at every point of it, and between two daemons.
import { rmSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { dir, MadeUp } from '../../test/runs/made-up-world.ts';
import { deedOf } from '../decide/handoff/deeds.ts';
import { type Handoff, type HandoffAction, stepOf } from '../model/handoff.ts';
import { Cycle } from './cycle.ts';

afterAll(() => rmSync(dir, { recursive: true, force: true }));

const hour = 3_600_000;
const day = 24 * hour;
const roundsMax = 400;

/** Long ago, so that a file may be of later without being of a time that has not come for its file system. */
function longAgo(given: Partial<MadeUp>): MadeUp {
  return Object.assign(new MadeUp(), { nowMs: Date.now() - 100 * day }, given);
}

/** `before`: what happens before the round of this number; how many rounds it took. */
async function handOver(world: MadeUp, before: (round: number) => unknown = () => {}): Promise<number> {
  await world.start();
  await world.request();
  for (let round = 0; round < roundsMax; round += 1) {
    if (world.handoff !== undefined && ['done', 'failed'].includes(stepOf(world.handoff))) return round;
    await before(round);
    await world.round();
  }
  return roundsMax;
}

const kinds: [string, Partial<MadeUp>, string][] = [
  ['goes its way', {}, 'done'],
  ['whose first document is poor', { isPoor: true }, 'done'],
  ['that the fresh context does not take up', { isDeaf: true }, 'failed'],
];
/** All of a few, some of many. */
function points(rounds: number): number[] {
  return Array.from({ length: rounds }, (_, round) => round).filter((round) => round % Math.ceil(rounds / 5) === 0);
}

const shifts = [-40 * day, -2 * hour, 2 * hour, 40 * day];

describe.each(kinds)('a handoff %s', (_kind, given, ending) => {
  it.concurrent.each(shifts)(
    'does the same with a clock that is set by %d ms at any point, and right again',
    async (wrongMs) => {
      const whole = longAgo(given);
      const rounds = await handOver(whole);
      expect(stepOf(whole.handoff as never)).toBe(ending);
      for (const at of points(rounds)) {
        for (const forRounds of [1, roundsMax]) {
          const world = longAgo(given);
          const took = await handOver(world, (round) => {
            world.wrongMs = round >= at && round < at + forRounds ? wrongMs : 0;
          });
          const when = `set before round ${at} for ${forRounds}`;
          expect(world.done, when).toEqual(whole.done);
          expect(stepOf(world.handoff as never), when).toBe(ending);
          expect(took, when).toBeLessThanOrEqual(rounds + 2);
        }
      }
    },
    120_000,
  );

  it.concurrent.each(shifts)(
    'types nothing more when the clock is off by %d ms at a start',
    async (wrongMs) => {
      const whole = longAgo(given);
      const rounds = await handOver(whole);
      for (const at of points(rounds)) {
        const world = longAgo(given);
        await handOver(world, async (round) => {
          if (round !== at) return;
          world.wrongMs = wrongMs;
          await world.start();
        });
        expect(world.done, `started anew before round ${at}`).toEqual(whole.done);
        expect(stepOf(world.handoff as never), `started anew before round ${at}`).toBe(ending);
      }
    },
    120_000,
  );
});

describe('what was typed a moment ago', () => {
  const atMs = Date.parse('2026-11-15T12:00:00Z');
  const typed = (): HandoffAction => {
    const outcomes = [{ outcome: 'uncertain', reason: null }];
    return { id: 'a', deed: 'clear', after: 0, why: null, atMs, outcomes, typed: '/clear' };
  };
  const handoff = { requestedMs: atMs, steps: [] as Handoff['steps'], file: '/f' } as Handoff;

  it.each(shifts)(
    'is as old as it is, with a clock that was set by %d ms since, and not of later than the record',
    (byMs) => {
      const cycle = new Cycle(structuredClone(handoff), 0);
      cycle.learn([typed()], 0);
      cycle.clockSet(byMs, atMs + byMs);
      const actions = cycle.learn([typed()], 1_000);
      const facts = { nowMs: atMs + byMs + 1_000, actions, agesMs: cycle.agesMs(1_000) };
      expect(deedOf({ handoff, facts }, 'clear')).toMatchObject({ is: 'uncertain', ageMs: 1_000 });
      expect(actions[0]?.atMs).toBeLessThanOrEqual(facts.nowMs);
    },
  );
});
