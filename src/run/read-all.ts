import { setTimeout as sleep } from 'node:timers/promises';

const triesMax = 10;
const everyMs = 500;

/**
 * One after the other, each until it was read once: a database that is being started again is waited for. false: one of
 * them could not be read, nor was any after it.
 */
export async function readAll(
  reads: readonly (() => Promise<boolean>)[],
  wait: () => Promise<unknown> = () => sleep(everyMs),
): Promise<boolean> {
  for (const read of reads) {
    for (let tries = 1; !(await read()); tries += 1) {
      if (tries === triesMax) return false;
      await wait();
    }
  }
  return true;
}
