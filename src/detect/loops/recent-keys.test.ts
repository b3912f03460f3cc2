import { expect, it } from 'vitest';
import { RecentKeys } from './recent-keys.ts';

it('a key is known again among the last ones, and forgotten after twice as many', () => {
  const keys = new RecentKeys(1_000);
  let wrong = 0;
  for (let index = 0; index < 50_000; index += 1) {
    if (!keys.add(`key${index}`)) wrong += 1;
    if (index >= 999 && keys.add(`key${index - 999}`)) wrong += 1;
  }
  expect(wrong).toBe(0);
  expect(keys.add('key0')).toBe(true);
});

it('keys that differ in a single place are not taken for each other', () => {
  const keys = new RecentKeys(200_000);
  const like = (place: number, letter: number) => {
    const text = 'f3a1c2d4-0000-4000-a000-123456789abc#0';
    return `${text.slice(0, place)}${String.fromCharCode(letter)}${text.slice(place + 1)}`;
  };
  const different = new Set<string>();
  for (let place = 0; place < 38; place += 1) {
    for (let letter = 33; letter < 2_000; letter += 1) different.add(like(place, letter));
  }
  let known = 0;
  for (const key of different) if (!keys.add(key)) known += 1;
  expect(known).toBe(0);
});
