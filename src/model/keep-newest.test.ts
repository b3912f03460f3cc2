import { expect, it } from 'vitest';
import { keepNewest } from './keep-newest.ts';

it('a map keeps the entries that were last written, and no more than so many', () => {
  const map = new Map<string, number>();
  for (const [index, key] of ['a', 'b', 'c', 'a', 'd'].entries()) keepNewest(map, key, index, 3);
  expect([...map]).toEqual([
    ['c', 2],
    ['a', 3],
    ['d', 4],
  ]);
});
