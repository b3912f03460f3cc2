import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ContextFigure, forecastContext } from './forecast.ts';

const edges = [30, 50, 70, 85];
const minute = 60_000;

function figure(minutes: number, used: number, more: Partial<ContextFigure> = {}): ContextFigure {
  return { atMs: minutes * minute, used, window: 200_000, usable: 180_000, compacted: null, ...more };
}

/** 2,000 tokens a minute. */
const steady = (count: number, from = 10_000) =>
  Array.from({ length: count }, (_, index) => figure(index, from + index * 2_000));

describe('what is said of a steady agent', () => {
  it('the next band and the end, when they come', () => {
    const found = forecastContext(steady(21), edges, 20 * minute);
    expect(found).toMatchObject({
      edge: 30,
      next: { steps: 5, atMs: 25 * minute },
      usableEnd: { steps: 65, atMs: 85 * minute },
      largestStep: 2_000,
    });
  });
  it('from its fourth figure on', () => {
    expect(forecastContext(steady(3), edges, 2 * minute)).toBeNull();
    expect(forecastContext(steady(4), edges, 3 * minute)).not.toBeNull();
  });
  it('the compaction of the client, where that comes before the end', () => {
    const compaction = (mark: number | null, from = 10_000) =>
      forecastContext(steady(21, from), edges, 20 * minute, mark)?.compaction;
    expect(compaction(150_000)).toMatchObject({ steps: 50, atMs: 70 * minute });
    expect(compaction(180_000)).toBeNull();
    expect(compaction(null)).toBeNull();
    expect(compaction(150_000, 115_000)).toBeNull();
  });
  it('in the highest band only the end', () =>
    expect(forecastContext(steady(4, 165_000), edges, 3 * minute)).toMatchObject({ edge: null, next: null }));
  it('past the end nothing more', () =>
    expect(forecastContext(steady(4, 181_000), edges, 3 * minute)).toMatchObject({ next: null, usableEnd: null }));
  it('while it rests the forecast moves along', () => {
    const found = forecastContext(steady(21), edges, 500 * minute);
    expect(found?.next?.atMs).toBe(504 * minute);
  });
  it('a night between two turns is no pace', () => {
    const night = [
      ...steady(10),
      ...steady(11, 28_000).map((given) => ({ ...given, atMs: given.atMs + 600 * minute })),
    ];
    const found = forecastContext(night, edges, 610 * minute);
    expect(found?.next?.atMs).toBeLessThan(620 * minute);
  });
});

describe('what could mislead it', () => {
  it('nothing, or figures that are none', () => {
    expect(forecastContext([], edges, 0)).toBeNull();
    const none = steady(10).map((given) => ({ ...given, used: Number.NaN }));
    expect(forecastContext(none, edges, 0)).toBeNull();
    expect(
      forecastContext(
        steady(10).map((given) => ({ ...given, window: 0 })),
        edges,
        0,
      ),
    ).toBeNull();
  });
  it('a context that does not grow', () =>
    expect(
      forecastContext(
        Array.from({ length: 10 }, (_, index) => figure(index, 9_000)),
        edges,
        0,
      ),
    ).toBeNull());
  it('a compaction is no step back: it goes on from there at the same pace', () => {
    const after = [...steady(21), figure(21, 10_000, { compacted: 'auto' })];
    expect(forecastContext(after, edges, 21 * minute)).toMatchObject({ next: { steps: 25, atMs: 46 * minute } });
  });
  it('a large step may come again: the earliest is now where it would do', () => {
    const found = forecastContext([...steady(20), figure(20, 58_000)], edges, 20 * minute);
    expect(found).toMatchObject({ largestStep: 10_000, next: { lowMs: 20 * minute } });
  });
  it('figures out of order are put in order', () =>
    expect(forecastContext(steady(21).reverse(), edges, 20 * minute)).toEqual(
      forecastContext(steady(21), edges, 20 * minute),
    ));

  const wild = fc.record({
    atMs: fc.oneof(fc.integer({ min: 0, max: 1e12 }), fc.constant(Number.NaN)),
    used: fc.oneof(fc.integer({ min: -10, max: 2e6 }), fc.constant(Number.POSITIVE_INFINITY)),
    window: fc.constantFrom(200_000, 1_000_000, 0, -1),
    usable: fc.constantFrom(180_000, 980_000, 0),
    compacted: fc.constantFrom(null, null, null, 'auto'),
  });
  it('whatever the figures: never before now, low before high, steps counted, numbers all', () => {
    fc.assert(
      fc.property(fc.array(wild, { maxLength: 60 }), fc.integer({ min: 0, max: 2e12 }), (figures, nowMs) => {
        const found = forecastContext(figures, edges, nowMs);
        for (const reach of [found?.next, found?.usableEnd]) {
          if (reach == null) continue;
          expect(Object.values(reach).every(Number.isFinite)).toBe(true);
          expect(reach.steps).toBeGreaterThanOrEqual(1);
          expect(nowMs).toBeLessThanOrEqual(reach.lowMs);
          expect(reach.lowMs).toBeLessThanOrEqual(reach.atMs);
          expect(reach.atMs).toBeLessThanOrEqual(reach.highMs);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
