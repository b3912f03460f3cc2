import { describe, expect, it } from 'vitest';
import { type Quiet, tellQuiet } from './quiet.ts';

const minute = 60_000;
const noon = Date.parse('2026-01-22T12:00:00Z');

/** A file looked at again and again: each step moves both clocks, or one of them. */
function story(
  steps: { stamp: string | null; changedMs?: number | null; wallMs: number; monotonicMs: number }[],
): number[] {
  let quiet: Quiet | null = null;
  return steps.map(({ stamp, changedMs = null, wallMs, monotonicMs }) => {
    quiet = tellQuiet(quiet, { stamp, changedMs, nowMs: noon + wallMs, monotonicMs });
    return quiet.quietMs;
  });
}

describe('how long a file has been quiet', () => {
  it('is its own word at the first look: what happened before is in its time', () =>
    expect(story([{ stamp: 'a', changedMs: noon - 7 * minute, wallMs: 0, monotonicMs: 5 }])).toEqual([7 * minute]));

  it('grows while nothing is written, to the millisecond', () =>
    expect(
      story([
        { stamp: 'a', changedMs: noon, wallMs: 0, monotonicMs: 0 },
        { stamp: 'a', changedMs: noon, wallMs: 15 * minute, monotonicMs: 15 * minute },
      ]),
    ).toEqual([0, 15 * minute]));

  it('begins anew with every byte, at the time of the byte', () =>
    expect(
      story([
        { stamp: 'a', changedMs: noon, wallMs: 0, monotonicMs: 0 },
        { stamp: 'b', changedMs: noon + 14 * minute, wallMs: 14 * minute + 900, monotonicMs: 14 * minute + 900 },
      ]),
    ).toEqual([0, 900]));

  it('does not age while the machine sleeps: only the clock on the wall went on', () =>
    expect(
      story([
        { stamp: 'a', changedMs: noon, wallMs: 0, monotonicMs: 0 },
        { stamp: 'a', changedMs: noon, wallMs: 600 * minute, monotonicMs: 2_000 },
      ]),
    ).toEqual([0, 2_000]));

  it('does not age when the clock is set forward, nor grow younger when it is set back', () =>
    expect(
      story([
        { stamp: 'a', changedMs: noon, wallMs: 0, monotonicMs: 0 },
        { stamp: 'a', changedMs: noon, wallMs: 90 * minute, monotonicMs: 1_000 },
        { stamp: 'a', changedMs: noon, wallMs: -90 * minute, monotonicMs: 2_000 },
      ]),
    ).toEqual([0, 1_000, 2_000]));

  it('a write with a wrong time counts as one since the last look', () =>
    expect(
      story([
        { stamp: 'a', changedMs: noon, wallMs: 0, monotonicMs: 0 },
        { stamp: 'b', changedMs: noon - 600 * minute, wallMs: 2_000, monotonicMs: 2_000 },
        { stamp: 'c', changedMs: noon + 600 * minute, wallMs: 4_000, monotonicMs: 4_000 },
      ]),
    ).toEqual([0, 2_000, 0]));

  it('rotation and truncation are signs', () =>
    expect(
      story([
        { stamp: '1:900:0', changedMs: noon - 9 * minute, wallMs: 0, monotonicMs: 0 },
        { stamp: '2:0:1', changedMs: noon + 1_000, wallMs: 1_000, monotonicMs: 1_000 },
        { stamp: '2:0:1', changedMs: noon + 1_000, wallMs: 2_000, monotonicMs: 2_000 },
      ]),
    ).toEqual([9 * minute, 0, 1_000]));

  it('gone from sight is no sign, and back as it was neither', () =>
    expect(
      story([
        { stamp: 'a', changedMs: noon, wallMs: 0, monotonicMs: 0 },
        { stamp: null, wallMs: 1_000, monotonicMs: 1_000 },
        { stamp: 'a', changedMs: noon, wallMs: 2_000, monotonicMs: 2_000 },
      ]),
    ).toEqual([0, 1_000, 2_000]));

  it('what was never seen is as quiet as one was told, and ages from then', () => {
    const first = tellQuiet(null, { stamp: null, changedMs: null, nowMs: noon, monotonicMs: 0 }, 5 * minute);
    expect(first.quietMs).toBe(5 * minute);
    const then = tellQuiet(first, { stamp: null, changedMs: null, nowMs: noon, monotonicMs: minute });
    expect(then.quietMs).toBe(6 * minute);
    expect(tellQuiet(then, { stamp: 'a', changedMs: noon, nowMs: noon, monotonicMs: minute }).quietMs).toBe(0);
  });
});
