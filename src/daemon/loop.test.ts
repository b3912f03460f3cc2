import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Loop } from './loop.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A loop whose full passes end when the test says so. */
function loopWith(tickMs = 2_000) {
  const seen = { ticks: 0, running: 0, mostAtOnce: 0, pulses: 0, failures: 0 };
  let finish: (how?: Error) => void = () => {};
  const loop = new Loop({
    tickMs: () => tickMs,
    pulse: () => {
      seen.pulses += 1;
    },
    failed: () => {
      seen.failures += 1;
    },
    tick: () => {
      seen.ticks += 1;
      seen.running += 1;
      seen.mostAtOnce = Math.max(seen.mostAtOnce, seen.running);
      return new Promise<void>((resolve, reject) => {
        finish = (error) => {
          seen.running -= 1;
          if (error === undefined) resolve();
          else reject(error);
        };
      });
    },
  });
  return { loop, seen, finish: (error?: Error) => finish(error) };
}

describe('the loop', () => {
  it('looks at the agents it knows also while a full pass waits for a server that does not answer', async () => {
    const { loop, seen } = loopWith();
    loop.start();
    await vi.advanceTimersByTimeAsync(2_100);
    expect(seen.ticks).toBe(1);
    const before = seen.pulses;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(seen.ticks).toBe(1);
    expect(seen.pulses - before).toBeGreaterThanOrEqual(9);
  });

  it('never has two full passes at once, however often it is nudged, and begins the next as soon as it may', async () => {
    const { loop, seen, finish } = loopWith();
    loop.start();
    for (let nudge = 0; nudge < 50; nudge += 1) {
      loop.nudge(true);
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(seen).toMatchObject({ ticks: 1, mostAtOnce: 1 });
    finish();
    await vi.advanceTimersByTimeAsync(100);
    expect(seen).toMatchObject({ ticks: 2, mostAtOnce: 1 });
  });

  it('goes on after a pass that failed', async () => {
    const { loop, seen, finish } = loopWith();
    loop.start();
    await vi.advanceTimersByTimeAsync(2_100);
    finish(new Error('broken'));
    await vi.advanceTimersByTimeAsync(2_100);
    expect(seen).toMatchObject({ ticks: 2, failures: 1 });
  });

  it('has stopped only when the pass that was running is over, and starts none after', async () => {
    const { loop, seen, finish } = loopWith();
    loop.start();
    await vi.advanceTimersByTimeAsync(2_100);
    let stopped = false;
    void loop.stop().then(() => {
      stopped = true;
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(stopped).toBe(false);
    finish();
    await vi.advanceTimersByTimeAsync(10);
    expect(stopped).toBe(true);
    const { ticks, pulses } = seen;
    loop.nudge(true);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(seen).toMatchObject({ ticks, pulses });
  });
});
