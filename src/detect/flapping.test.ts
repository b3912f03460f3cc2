import { describe, expect, it } from 'vitest';
import { endedByItself, type Flaps, flapLimits, moved, noFlaps, settleFlaps } from './flapping.ts';

const minute = 60_000;
const ends = (...atMinutes: number[]): Flaps =>
  atMinutes.reduce((flaps, at) => endedByItself(flaps, at * minute), noFlaps);

describe('what comes and goes by itself is set apart', () => {
  it('not after three times', () => expect(ends(0, 10, 20).apartSinceMs).toBeNull());
  it('after the fourth within an hour', () => expect(ends(0, 10, 20, 30).apartSinceMs).toBe(30 * minute));
  it('not if it took longer', () => expect(ends(0, 30, 61, 92, 123).apartSinceMs).toBeNull());
  it('until it was still for half an hour', () => {
    const apart = moved(ends(0, 10, 20, 30), 40 * minute);
    expect(settleFlaps(apart, 69 * minute).apartSinceMs).toBe(30 * minute);
    expect(settleFlaps(apart, 40 * minute + flapLimits.quietMs)).toEqual(noFlaps);
  });
  it('its memory does not grow', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => index / 100);
    expect(ends(...many).endsMs.length).toBe(flapLimits.timesMax + 1);
  });
});
