import { setTimeout as sleep } from 'node:timers/promises';

const triesMax = 10;
const everyMs = 500;
/** A server that does not answer at all takes its time for each. */
const givenMs = 30_000;

/**
 * One after the other, each until it was read once: a database that is being started again is waited for. false: one of
 * them could not be read, nor was any after it.
 */
export async function readAll(
  reads: readonly (() => Promise<boolean>)[],
  wait: () => Promise<unknown> = () => sleep(everyMs),
): Promise<boolean> {
  for (const read of reads) {
    const endMs = performance.now() + givenMs;
    for (let tries = 1; !(await read()); tries += 1) {
      if (tries === triesMax || performance.now() > endMs) return false;
      await wait();
    }
  }
  return true;
}
