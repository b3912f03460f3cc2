import { describe, expect, it } from 'vitest';
import { hasPlace, type Place } from './places.ts';

const left = { isLeft: true };
const place = (project: string, account: string | null): Place => ({ project, account, shared: null, isLeft: false });

describe('handoffs of one project, and of one account, do not all run at the same time', () => {
  it.each<[string, Place, Place[], number, boolean]>([
    ['the first', place('a', 'x'), [], 1, true],
    ['a second in the project', place('a', 'y'), [place('a', 'x')], 1, false],
    ['a second on the account', place('b', 'x'), [place('a', 'x')], 1, false],
    ['another project on another account', place('b', 'y'), [place('a', 'x')], 1, true],
    ['a second of two', place('a', 'x'), [place('a', 'x')], 2, true],
    ['a third of two, counted together', place('a', 'x'), [place('a', 'y'), place('a', 'z')], 2, false],
    [
      'a second whose recipe writes in the same directory',
      { ...place('a', 'x'), shared: '/p' },
      [{ ...place('b', 'y'), shared: '/p' }],
      9,
      false,
    ],
    ['one beside it with a document of its own', place('a', 'x'), [{ ...place('b', 'y'), shared: '/p' }], 9, true],
    ['one beside it that is stuck, and somebody knows', place('a', 'x'), [{ ...place('a', 'x'), ...left }], 1, true],
    [
      'one beside it that is stuck, and one that runs',
      place('a', 'x'),
      [{ ...place('a', 'x'), ...left }, place('a', 'x')],
      1,
      false,
    ],
    [
      'one whose recipe writes where one is stuck that has not read its file',
      { ...place('a', 'x'), shared: '/p' },
      [{ ...place('a', 'x'), shared: '/p', ...left }],
      9,
      false,
    ],
    ['accounts that are not known count as one', place('b', null), [place('a', null)], 1, false],
  ])('%s', (_name, mine, taken, parallelMax, expected) => expect(hasPlace(mine, taken, parallelMax)).toBe(expected));
});
