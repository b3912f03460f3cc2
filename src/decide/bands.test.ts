import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextFull } from '../detect/checks/context-full.ts';
import { contextHigh } from '../detect/checks/context-high.ts';
import type { AgentView, BandStay, State } from '../model/agent.ts';
import { percentOf } from '../model/percent.ts';
import { admit, bandName, bandOf, bandRule, holdBand, type TaskSize } from './bands.ts';

const edges = [30, 50, 70, 85];
const sizes: TaskSize[] = ['tiny', 'small', 'large'];

describe('seed 000, section 3, as it stands there, to the token', () => {
  const all: TaskSize[] = ['tiny', 'small', 'large'];
  // Context usage, its first and its last token of 200,000 | accepts | row in health_checks | finding | handoff before a large task
  const rows: [string, number, number, TaskSize[], string, string | null, string][] = [
    ['< 30 %: accept any task, normal operation', 0, 59_999, all, 'ok', null, 'none'],
    ['30-50 %: accept any task, start considering handoff timing', 60_000, 99_999, all, 'ok', null, 'none'],
    [
      '50-70 %: only small tasks, before large ones a handoff',
      100_000,
      139_999,
      ['tiny', 'small'],
      'ok',
      null,
      'advised',
    ],
    [
      '70-85 %: only tiny tasks, a handoff after current work',
      140_000,
      170_000,
      ['tiny'],
      'warning',
      'context-high',
      'advised',
    ],
    ['> 85 %: mandatory handoff, new work is rejected', 170_001, 200_000, [], 'critical', 'context-full', 'required'],
  ];

  it.each(rows)('%s', (_row, first, last, accepts, status, finding, handoff) => {
    // On the larger window the same shares, whose last token is as near to the edge.
    const ends = (used: number, size: number) => (used % 1_000 === 999 ? (used + 1) * size - 1 : used * size);
    const starts = (used: number, size: number) => (used % 1_000 === 1 ? (used - 1) * size + 1 : used * size);
    for (const [window, size] of [
      [200_000, 1],
      [1_000_000, 5],
    ] as const) {
      for (const used of [starts(first, size), ends(last, size)]) {
        const percent = percentOf(used, window);
        const stay = holdBand(percent, null, edges, 0);
        expect(bandRule(stay?.index ?? -1).status).toBe(status);
        expect(all.filter((size) => admit('idle', percent, size, edges).accept)).toEqual(accepts);
        expect(admit('idle', percent, 'large', edges).handoff).toBe(handoff);
        expect(foundAt(used, window, stay)).toEqual(finding === null ? [] : [finding]);
      }
    }
  });

  it('leaves nothing between two rows', () => {
    expect(rows.map(([, first]) => first).slice(1)).toEqual(rows.map(([, , last]) => last + 1).slice(0, -1));
  });

  function foundAt(used: number, window: number, band: BandStay | null): string[] {
    const context = {
      used,
      window,
      usable: window - 20_000,
      percent: percentOf(used, window),
      source: 'transcript',
      atMs: 0,
    };
    const view = { reading: { state: 'idle' }, context, band } as AgentView;
    const input = { view } as unknown as Parameters<typeof contextHigh.look>[0];
    return [contextHigh, contextFull].filter(({ look }) => 'found' in look(input, {})).map(({ name }) => name);
  }
});

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
