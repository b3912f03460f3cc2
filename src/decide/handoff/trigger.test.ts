import { describe, expect, it } from 'vitest';
import { type HandoffFigure, type HandoffPolicy, type HandoffWorld, shouldHandOff, whyHandOff } from './trigger.ts';

const policy: HandoffPolicy = { atPercent: 85, compaction: 'forestall' };
const idle: HandoffWorld = { compactsAt: null, isWorking: false };
const working: HandoffWorld = { compactsAt: null, isWorking: true };
/** Claude Code on a model of 200,000 that it compacts at 167,000. */
const compacting: HandoffWorld = { compactsAt: 167_000, isWorking: false };

function figures(used: readonly number[], window = 200_000): HandoffFigure[] {
  return used.map((figure, index) => ({
    atMs: index * 1000,
    used: figure,
    window,
    usable: window - 20_000,
    compacted: null,
    usedBefore: null,
  }));
}

/** Steps of one size up to a figure. */
function upTo(last: number, step: number, window = 200_000): HandoffFigure[] {
  return figures([last - 3 * step, last - 2 * step, last - step, last], window);
}

const due = (given: HandoffFigure[], world: HandoffWorld = idle, by: HandoffPolicy = policy) => {
  const { now, reason } = shouldHandOff(given, by, world);
  return now ? reason : `not: ${reason}`;
};

describe('when a handoff begins', () => {
  // Writing takes 16,000; the next step at least 8,000; it ends before 180,000 of 200,000, the client's usable end.
  it.each<[string, HandoffFigure[], HandoffWorld, string]>([
    ['at the percent asked for', upTo(850_000, 1_000, 1_000_000), idle, 'at-percent'],
    ['just below', upTo(849_999, 1_000, 1_000_000), idle, 'not: room-left'],
    ['beyond all bounds', figures([260_000]), idle, 'at-percent'],
    ['while the next step leaves room', upTo(156_000, 1_000), idle, 'not: room-left'],
    ['when it may not', upTo(156_001, 1_000), idle, 'usable-end'],
    ['with a step under way, two have to fit: they do', upTo(148_000, 1_000), working, 'not: room-left'],
    ['with a step under way, two have to fit: they do not', upTo(148_001, 1_000), working, 'usable-end'],
    ['after large steps', upTo(144_001, 20_000), idle, 'usable-end'],
    ['after large steps, with room', upTo(144_000, 20_000), idle, 'not: room-left'],
    ['before the client compacts', upTo(143_001, 1_000), compacting, 'compaction'],
    ['not long before the client compacts', upTo(143_000, 1_000), compacting, 'not: room-left'],
    ['on one figure alone', figures([157_000]), idle, 'usable-end'],
    ['not for a jump on one figure', figures([20_000, 144_000]), idle, 'not: room-left'],
    ['not in a context that is half empty, however large the steps', upTo(99_999, 33_000), working, 'not: room-left'],
    ['from half on', upTo(100_000, 33_000), { ...working, compactsAt: 167_000 }, 'compaction'],
    ['before 90 % of a larger window, not at its usable end', upTo(860_000, 1_000, 1_000_000), idle, 'at-percent'],
    ['without a figure', [], idle, 'not: context-unknown'],
    ['with figures that are none', figures([Number.NaN]), idle, 'not: context-unknown'],
    ['with no window', figures([5], 0), idle, 'not: context-unknown'],
    ['with figures that go backwards', figures([150_000, 120_000, 90_000, 60_000]), idle, 'not: room-left'],
  ])('%s', (_name, given, world, expected) => expect(due(given, world)).toBe(expected));

  it('before 90 % where one waits for more', () =>
    expect(due(upTo(880_000, 1_000, 1_000_000), idle, { ...policy, atPercent: 95 })).toBe('usable-end'));

  it('before the mark at which the client was seen to compact', () => {
    const seen = figures([140_000, 20_000, 100_000, 126_000, 127_000]);
    const at = seen[1] as HandoffFigure;
    seen[1] = { ...at, compacted: 'auto', usedBefore: 150_000 };
    expect(due(seen)).toBe('compaction');
    seen[1] = { ...at, compacted: 'manual', usedBefore: 150_000 };
    expect(due(seen)).toBe('not: room-left');
  });

  it('left to the compaction only at the percent, and only where there is one', () => {
    const leave: HandoffPolicy = { atPercent: 85, compaction: 'leave' };
    expect(due(upTo(166_000, 1_000), compacting, leave)).toBe('not: left-to-compaction');
    expect(due(upTo(170_000, 1_000), compacting, leave)).toBe('at-percent');
    expect(due(upTo(166_000, 1_000), idle, leave)).toBe('usable-end');
  });

  it('says how much room there is and how much it takes', () =>
    expect(shouldHandOff(upTo(150_000, 1_000), policy, compacting)).toEqual({
      now: true,
      reason: 'compaction',
      percent: 75,
      room: 17_000,
      needed: 24_000,
    }));

  it.each<[HandoffFigure[], HandoffWorld, string]>([
    [upTo(175_900, 1_000), idle, 'your context window is 88% full'],
    [upTo(160_000, 1_000), compacting, 'your context window is 80% full and would soon be compacted'],
    [upTo(160_000, 1_000), idle, 'your context window is 80% full and the next steps may need the rest'],
    [[], idle, 'somebody asked for it'],
  ])('is said in words', (given, world, words) => expect(whyHandOff(shouldHandOff(given, policy, world))).toBe(words));
});
