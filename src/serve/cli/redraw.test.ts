import { expect, it } from 'vitest';
import { screenOf } from './redraw.ts';

it('a shorter text leaves nothing of a longer one', () => {
  expect(screenOf('a\nb', 24)).toBe('\u001b[Ha\u001b[K\r\nb\u001b[K\u001b[J');
});

it('what does not fit is left out at the end, and that is said', () => {
  const rows = screenOf('1\n2\n3\n4\n5', 3).split('\r\n');
  expect(rows.map((row) => row.replaceAll(/\u001b\[\w/g, ''))).toEqual(['1', '2', '3 more lines']);
});
