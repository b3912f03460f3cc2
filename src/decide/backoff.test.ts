import { expect, it } from 'vitest';
import { backoffMs } from './backoff.ts';

const minute = 60_000;
const ids = Array.from({ length: 200 }, (_, n) => `0000-${n}`);

it('doubles, and is between once and one and a half times that', () => {
  for (const id of ids)
    for (const [tries, least] of [minute, 2 * minute, 4 * minute].entries()) {
      const waits = backoffMs(minute, tries, id);
      expect(waits).toBeGreaterThanOrEqual(least);
      expect(waits).toBeLessThan(1.5 * least);
    }
});

it('is the same for the same trouble, whoever asks and when', () =>
  expect(ids.map((id) => backoffMs(minute, 1, id))).toEqual(ids.map((id) => backoffMs(minute, 1, id))));

it('spreads agents that are refused together', () => {
  const tenths = new Set(ids.map((id) => Math.floor((backoffMs(minute, 0, id) - minute) / 3_000)));
  expect(tenths.size).toBe(10);
});
