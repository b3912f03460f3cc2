import type { Clock } from '../model/world.ts';

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** Never jumps, and is the same in all processes of one boot. */
export function bootMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
