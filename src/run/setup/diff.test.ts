import fc from 'fast-check';
import { expect, it } from 'vitest';
import { unifiedDiff } from './diff.ts';

it('shows what changes with the lines around it', () => {
  const before = 'a\nb\nc\nd\ne\nf\ng\nh\n';
  expect(unifiedDiff('file', before, before.replace('e\n', 'E\nE2\n')).split('\n')).toEqual([
    '--- file',
    '+++ file',
    '@@ -2 +2 @@',
    ' b',
    ' c',
    ' d',
    '-e',
    '+E',
    '+E2',
    ' f',
    ' g',
    ' h',
  ]);
  expect(unifiedDiff('file', before, before)).toBe('');
  expect(unifiedDiff('file', null, 'x\n')).toBe('--- /dev/null\n+++ file\n@@ -1 +1 @@\n+x');
});

it('is safe for a terminal and shows no secrets', () => {
  const diff = unifiedDiff('file', '', '\u001b[2J\n"token": "abcdefghijkl"\n\tindented\n');
  expect(diff).not.toContain('\u001b');
  expect(diff).not.toContain('abcdefghijkl');
  expect(diff).toContain('+\tindented');
});

it('leads from the one to the other', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 20 });
  fc.assert(
    fc.property(text, text, (old, fresh) => {
      const whole = (lines: string[]) => lines.map((line) => `${line}\n`).join('');
      expect(applied(old, unifiedDiff('f', whole(old), whole(fresh)))).toEqual(fresh);
    }),
  );
});

function applied(old: string[], diff: string): string[] {
  const result: string[] = [];
  let at = 0;
  for (const line of diff.split('\n').slice(2)) {
    const hunk = /^@@ -(\d+)/.exec(line);
    if (hunk !== null) for (; at < Number(hunk[1]) - 1; at += 1) result.push(old[at] ?? '');
    else {
      if (line[0] !== '+') expect(old[at++]).toBe(line.slice(1));
      if (line[0] !== '-') result.push(line.slice(1));
    }
  }
  return [...result, ...old.slice(at)];
}
