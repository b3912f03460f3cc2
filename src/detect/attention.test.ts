import { describe, expect, it } from 'vitest';
import { Attention } from './attention.ts';

describe('an age leaves out the time in which nobody could look', () => {
  function awake(...passesMs: number[]): Attention {
    const attention = new Attention(10_000);
    for (const atMs of passesMs) attention.pass(atMs);
    return attention;
  }
  it('watched all along: nothing is left out', () => expect(awake(0, 5_000, 15_000).missedSince(0)).toBe(0));
  it('a night of sleep', () => expect(awake(0, 1_000, 1_000_000, 1_001_000).missedSince(0)).toBe(999_000));
  it('only the part after it began', () => expect(awake(0, 100_000).missedSince(60_000)).toBe(40_000));
  it('sleep before it began does not concern it', () =>
    expect(awake(0, 100_000, 101_000).missedSince(100_000)).toBe(0));
  it('a clock set forward and back again: no age waits for the future', () =>
    expect(awake(0, 1_000_000, 1_000, 2_000).missedSince(0)).toBeLessThanOrEqual(1_000));
  it('a clock set back is no gap', () => expect(awake(100_000, 0, 1_000).missedSince(0)).toBe(0));
});
