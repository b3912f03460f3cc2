import { describe, expect, it } from 'vitest';
import { readAll } from './read-all.ts';

/** What is read, in its order, when each fails so often at first. */
async function reading(...failures: number[]): Promise<{ isRead: boolean; reads: string }> {
  const reads: string[] = [];
  const left = [...failures];
  const tasks = failures.map((_, index) => async () => {
    left[index] = (left[index] ?? 0) - 1;
    const isRead = (left[index] ?? 0) < 0;
    reads.push(`${index}${isRead ? '' : '!'}`);
    return isRead;
  });
  const isRead = await readAll(tasks, async () => {});
  return { isRead, reads: reads.join(' ') };
}

describe('what an earlier run left open', () => {
  it('is read in its order', async () => expect(await reading(0, 0, 0)).toEqual({ isRead: true, reads: '0 1 2' }));
  it('is asked for again where it could not be read, and never read twice', async () =>
    expect(await reading(0, 2, 1)).toEqual({ isRead: true, reads: '0 1! 1! 1 2! 2' }));
  it('is given up after a while, and nothing after it is read', async () => {
    const { isRead, reads } = await reading(0, 1_000, 0);
    expect([isRead, reads.includes('2'), reads.split(' ').length]).toEqual([false, false, 11]);
  });
});
