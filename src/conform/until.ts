import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Something did not happen in time. By its name the run of our tests tells it from a promise that was broken. */
export class DeadlineMissed extends Error {
  override name = 'DeadlineMissed';
}

/** Waits until `look` answers with something truthy; when it never does, says what was seen last. */
export async function until<T>(what: string, look: () => T | Promise<T>, ms = 30_000): Promise<NonNullable<T>> {
  const deadline = Date.now() + ms;
  for (;;) {
    const beganMs = performance.now();
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > deadline) throw new DeadlineMissed(`not within ${ms} ms: ${what}; last seen: ${inspect(seen)}`);
    // Looks that start a program must not keep a core busy: what is waited for needs it, and so do others.
    await sleep(Math.min(500, Math.max(50, 3 * (performance.now() - beganMs))));
  }
}

/** For `.catch(…)`: the same failure, of the same kind, with more to go by. */
export function withMore(more: () => string | Promise<string>): (error: Error) => Promise<never> {
  return async (error) => {
    error.message += `\n${await more()}`;
    throw error;
  };
}
