import os from 'node:os';
import type { Clock } from '../model/world.ts';

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** Since the machine was started, sleep included: nobody can set it. */
export function bootMs(): number {
  return os.uptime() * 1000;
}

/** Never jumps, and is the same in all processes of one boot. */
export function sharedMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
