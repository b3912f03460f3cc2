import { describe, expect, it } from 'vitest';
import { accuracyDocument } from './accuracy.ts';

describe("a check's own record", () => {
  const { items } = accuracyDocument(
    [
      { check: 'silent-stop', ending: 'prompt-helped', count: 8 },
      { check: 'silent-stop', ending: 'by-itself', count: 2 },
      { check: 'silent-stop', ending: 'agent-died', count: 3 },
      { check: 'silent-stop', ending: null, count: 1 },
      { check: 'looping', ending: 'by-itself', count: 5 },
      { check: 'looping', ending: 'human-denied', count: 1 },
    ],
    new Map([['silent-stop', 12_340]]),
    0,
  );
  it('counts what can be known apart from what cannot', () =>
    expect(items.find(({ check }) => check === 'silent-stop')).toMatchObject({
      check: 'silent-stop',
      raised: 14,
      right: 8,
      wrong: 2,
      unclear: 3,
      open: 1,
      n: 10,
      precision: 0.8,
      ci: [0.49, 0.943],
      median_open_s: 12.3,
    }));
  it('claims nothing where nothing is known', () =>
    expect(items.find(({ check }) => check === 'looping')).toMatchObject({
      raised: 6,
      right: 0,
      wrong: 1,
      unclear: 5,
      precision: 0,
      median_open_s: null,
    }));
  it('has no line for what was never raised', () => expect(items.length).toBe(2));
});
