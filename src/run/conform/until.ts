import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

/** Waits until `look` answers with something truthy; when it never does, says what was seen last. */
export async function until<T>(what: string, look: () => T | Promise<T>, ms = 30_000): Promise<NonNullable<T>> {
  const deadline = Date.now() + ms;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > deadline) throw new Error(`not within ${ms} ms: ${what}; last seen: ${inspect(seen)}`);
    await sleep(50);
  }
}
