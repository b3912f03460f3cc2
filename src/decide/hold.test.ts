import { describe, expect, it } from 'vitest';
import type { Hold } from '../model/hold.ts';
import { whyNotAllowed } from './gate.ts';
import { claimed, type HoldFacts, stands } from './hold.ts';

const agent = { bootId: 'b', pid: 7, startTicks: '70' };
const us = { agent, holder: { bootId: 'b', pid: 100, startTicks: '1' }, home: '/one', does: 'act' as const };
const them = { agent, holder: { bootId: 'b', pid: 200, startTicks: '2' }, home: '/two', does: 'act' as const };
const nowMs = 1_000_000;

function facts(more: Partial<HoldFacts> = {}): HoldFacts {
  return { nowMs, isHolderAlive: () => true, isAgentAlive: () => true, ...more };
}

function theirs(more: Partial<Hold> = {}): Hold {
  return { ...them, number: 4, renewedMs: nowMs - 1_000, ...more };
}

describe('a hold is taken', () => {
  it.each<[string, Hold | null, Partial<HoldFacts>, number]>([
    ['of an agent that nobody has', null, {}, 1],
    ['that was given back', theirs({ renewedMs: null }), {}, 5],
    ['of a holder that is dead', theirs(), { isHolderAlive: () => false }, 5],
    ['that was not renewed for 30 s', theirs({ renewedMs: nowMs - 30_000 }), {}, 5],
    ['that claims to be renewed in an hour', theirs({ renewedMs: nowMs + 3_600_000 }), {}, 5],
    ['of somebody who may only tell people', theirs({ does: 'tell' }), {}, 5],
    [
      'of a dead agent, when its holder is dead too',
      theirs(),
      { isHolderAlive: () => false, isAgentAlive: () => false },
      5,
    ],
    ['of our own, which is a renewal', { ...us, number: 4, renewedMs: nowMs - 20_000 }, {}, 4],
    ['of our own, which nobody took while we hung', { ...us, number: 4, renewedMs: nowMs - 90_000 }, {}, 4],
  ])('%s', (_name, found, more, number) => {
    expect(claimed(found, us, facts(more))).toEqual({ ...us, number, renewedMs: nowMs });
  });

  it.each<[string, Hold, Partial<HoldFacts>, Partial<Hold>]>([
    ['renewed a moment ago', theirs(), {}, {}],
    ['renewed 29.9 s ago', theirs({ renewedMs: nowMs - 29_900 }), {}, {}],
    ['of a daemon with the same pid and another start', theirs({ holder: { ...us.holder, startTicks: '9' } }), {}, {}],
    ['of another data directory in the same process', theirs({ holder: us.holder }), {}, {}],
    ['of another teller, for us to tell', theirs({ does: 'tell' }), {}, { does: 'tell' }],
    ['of an actor, for us to tell', theirs(), {}, { does: 'tell' }],
    [
      'of a dead agent, by a daemon that lives',
      theirs({ renewedMs: nowMs - 900_000 }),
      { isAgentAlive: () => false },
      {},
    ],
  ])('but not one %s', (_name, found, more, wish) => {
    expect(claimed(found, { ...us, ...wish }, facts(more))).toBeNull();
  });

  it('a suspended machine is no reason: the clock that it is counted by stands still too', () => {
    expect(stands(theirs({ renewedMs: nowMs - 1 }), facts())).toBe(true);
  });
});

describe('the gate', () => {
  const open = { mode: 'act', paused: false, starting: false, authority: 'manage', hold: 'ours' } as const;

  it.each([
    ['ours', 'nudge', null],
    ['ours', 'observe', null],
    ['elsewhere', 'nudge', 'held-elsewhere'],
    ['elsewhere', 'manage', 'held-elsewhere'],
    ['elsewhere', 'observe', 'held-elsewhere'],
    ['none', 'nudge', 'no-hold'],
    ['none', 'manage', 'no-hold'],
    // People are called all the same: once too often is better than never.
    ['none', 'observe', null],
  ] as const)('with a hold that is %s, what needs %s: %s', (hold, needs, refusal) => {
    expect(whyNotAllowed(needs, { ...open, hold })).toBe(refusal);
  });

  it('says first what the person at this daemon has decided', () => {
    expect(whyNotAllowed('nudge', { ...open, paused: true, hold: 'elsewhere' })).toBe('paused');
    expect(whyNotAllowed('nudge', { ...open, mode: 'watch', hold: 'elsewhere' })).toBe('watch-mode');
  });
});
