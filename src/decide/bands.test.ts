import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BandStay, State } from '../model/agent.ts';
import { admit, bandName, bandOf, bandRule, holdBand, type TaskSize } from './bands.ts';

const edges = [30, 50, 70, 85];
const sizes: TaskSize[] = ['tiny', 'small', 'large'];

describe("the seed's table: what an agent takes on, how its row reads, whether a handoff is due", () => {
  // context, band, tasks it takes, row, handoff before a large task
  const table: [number, string, TaskSize[], string, string][] = [
    [0, '[0,30)', ['tiny', 'small', 'large'], 'ok', 'none'],
    [29.9, '[0,30)', ['tiny', 'small', 'large'], 'ok', 'none'],
    [30, '[30,50)', ['tiny', 'small', 'large'], 'ok', 'none'],
    [49.9, '[30,50)', ['tiny', 'small', 'large'], 'ok', 'none'],
    [50, '[50,70)', ['tiny', 'small'], 'ok', 'advised'],
    [69.9, '[50,70)', ['tiny', 'small'], 'ok', 'advised'],
    [70, '[70,85]', ['tiny'], 'warning', 'advised'],
    [85, '[70,85]', ['tiny'], 'warning', 'advised'],
    [85.1, '(85,100]', [], 'critical', 'required'],
    [100, '(85,100]', [], 'critical', 'required'],
    [140, '(85,100]', [], 'critical', 'required'],
  ];
  it.each(table)('%s %%: band %s takes %j, row %s, handoff %s', (percent, band, takes, status, handoff) => {
    const index = bandOf(percent, edges);
    expect(bandName(index, edges)).toBe(band);
    expect(bandRule(index).status).toBe(status);
    expect(sizes.filter((size) => admit('idle', percent, size, edges).accept)).toEqual(takes);
    expect(admit('idle', percent, 'large', edges)).toMatchObject({ band: index, handoff });
  });

  it('a small task between 50 and 70 needs no handoff first', () =>
    expect(admit('idle', 60, 'small', edges)).toEqual({ accept: true, band: 2, reason: null, handoff: 'none' }));
});

describe('who takes nothing, whatever its context', () => {
  it.each<[State, string]>([
    ['ended', 'ended'],
    ['unknown', 'unknown'],
    ['waiting', 'waiting'],
    ['limited', 'limited'],
  ])('%s', (state, reason) => expect(admit(state, 5, 'tiny', edges)).toMatchObject({ accept: false, reason }));
  it('one whose context nobody knows', () =>
    expect(admit('idle', null, 'tiny', edges)).toEqual({
      accept: false,
      band: null,
      reason: 'context-unknown',
      handoff: 'none',
    }));
  it.each<State>(['idle', 'working', 'retrying', 'compacting'])('but one that is %s does', (state) =>
    expect(admit(state, 5, 'large', edges).accept).toBe(true),
  );
});

describe('a stay in a band', () => {
  const stay: BandStay = { index: 3, sinceMs: 1 };
  const at = (percent: number | null, before: BandStay | null = stay) => holdBand(percent, before, edges, 9);
  it('goes on within it', () => expect(at(80)).toBe(stay));
  it('goes on just below its edge', () => expect(at(68.5)).toBe(stay));
  it('ends clear of its edge', () => expect(at(67.9)).toEqual({ index: 2, sinceMs: 9 }));
  it('ends at once upwards', () => expect(at(85.1)).toEqual({ index: 4, sinceMs: 9 }));
  it('ends far down where the figure is', () => expect(at(3)).toEqual({ index: 0, sinceMs: 9 }));
  it('begins with the first figure of a session', () => expect(at(72, null)).toEqual({ index: 3, sinceMs: 9 }));
  it('is none where nothing is known', () => expect(at(null)).toBeNull());

  const anyEdges = fc
    .uniqueArray(fc.integer({ min: 1, max: 99 }), { minLength: 4, maxLength: 4 })
    .map((all) => all.sort((a, b) => a - b));

  it('a wobble around an edge is one stay, wherever the edges are', () => {
    fc.assert(
      fc.property(
        anyEdges,
        fc.nat(3),
        fc.array(fc.double({ min: -0.49, max: 0.49, noNaN: true })),
        (some, n, noise) => {
          const edge = some[n] ?? 0;
          let held = holdBand(edge + 0.4, null, some, 0);
          const stays = new Set([held?.sinceMs]);
          for (const [index, by] of noise.entries()) {
            held = holdBand(edge + by, held, some, index + 1);
            stays.add(held?.sinceMs);
          }
          expect(stays.size).toBe(1);
        },
      ),
    );
  });

  it('is never below the figure, and never more than one band and a wobble above it', () => {
    fc.assert(
      fc.property(anyEdges, fc.array(fc.double({ min: 0, max: 150, noNaN: true })), (some, figures) => {
        let held: BandStay | null = null;
        for (const percent of figures) {
          held = holdBand(percent, held, some, 0);
          expect(held?.index).toBeGreaterThanOrEqual(bandOf(percent, some));
          expect(held?.index).toBeLessThanOrEqual(bandOf(percent + 2.000001, some));
        }
      }),
    );
  });
});
