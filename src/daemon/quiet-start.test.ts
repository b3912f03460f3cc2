import { expect, it } from 'vitest';
import { QuietStart } from './quiet-start.ts';

/** A clock that can be set. */
function madeClock() {
  const now = { wallMs: 1_000_000, monotonicMs: 500 };
  return {
    pass(ms: number) {
      now.wallMs += ms;
      now.monotonicMs += ms;
    },
    set(byMs: number) {
      now.wallMs += byMs;
    },
    nowMs: () => now.wallMs,
    monotonicMs: () => now.monotonicMs,
  };
}

it('lasts as long as it was said, from the moment it was said', () => {
  const clock = madeClock();
  const quiet = new QuietStart(clock);
  quiet.begin(120_000);
  clock.pass(5_000);
  quiet.begin(120_000);
  expect(quiet.untilMs()).toBe(1_125_000);
  clock.pass(119_999);
  expect(quiet.untilMs()).toBe(1_125_000);
  clock.pass(1);
  expect(quiet.untilMs()).toBe(null);
});

it.each([-3_600_000, 3_600_000])('a clock that is set by %d ms makes it neither shorter nor longer', (byMs) => {
  const clock = madeClock();
  const quiet = new QuietStart(clock);
  quiet.begin(120_000);
  clock.set(byMs);
  clock.pass(119_999);
  expect(quiet.untilMs()).toBe(1_120_000 + byMs);
  clock.pass(1);
  expect(quiet.untilMs()).toBe(null);
});

it('of no length it is over at once; of a length that nobody said it is not', () => {
  const quiet = new QuietStart(madeClock());
  expect(quiet.untilMs()).not.toBe(null);
  quiet.begin(0);
  expect(quiet.untilMs()).toBe(null);
});
