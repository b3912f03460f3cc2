import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { percentOf, wholePercent } from './percent.ts';

describe('percents of a context', () => {
  it.each([
    [114_000, 200_000, 57, 57],
    [115_000, 200_000, 57.5, 57],
    [57, 100, 57, 57],
    [58, 100, 58, 58],
    [29_000, 100_000, 29, 29],
    [850_001, 1_000_000, 85.0001, 85],
    [170_000, 200_000, 85, 85],
    [0, 200_000, 0, 0],
    [210_000, 200_000, 105, 105],
  ])('%s of %s: %s, shown as %s', (used, window, percent, whole) => {
    expect(percentOf(used, window)).toBe(percent);
    expect(wholePercent(percentOf(used, window))).toBe(whole);
  });

  it("every figure is shown as the client's own arithmetic has it", () => {
    const window = fc.constantFrom(100_000, 200_000, 400_000, 1_000_000);
    fc.assert(
      fc.property(window, fc.integer({ min: 0, max: 1_000_000 }), (size, used) => {
        expect(wholePercent(percentOf(used, size))).toBe(Math.round((used / size) * 100));
      }),
    );
    for (let used = 0; used <= 200_000; used += 500)
      expect(wholePercent(percentOf(used, 200_000))).toBe(Math.round((used / 200_000) * 100));
  });

  it('what is a whole percent is one', () => {
    for (let percent = 0; percent <= 100; percent += 1) {
      expect(percentOf(percent * 2_000, 200_000)).toBe(percent);
      expect(percentOf(percent * 10_000, 1_000_000)).toBe(percent);
    }
  });
});
