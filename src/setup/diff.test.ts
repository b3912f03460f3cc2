import fc from 'fast-check';
import { expect, it } from 'vitest';
import { unifiedDiff } from './diff.ts';

it('shows what changes with the lines around it', () => {
  const before = 'a\nb\nc\nd\ne\nf\ng\nh\n';
  expect(unifiedDiff('file', before, before.replace('e\n', 'E\nE2\n')).split('\n')).toEqual([
    '--- file',
    '+++ file',
    '@@ -2,7 +2,8 @@',
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
  expect(unifiedDiff('file', null, 'x\n')).toBe('--- /dev/null\n+++ file\n@@ -0,0 +1,1 @@\n+x');
});

it('shows of one long line only where it changes', () => {
  const before = `{"allow":[${'"x",'.repeat(500)}"end"],"hooks":{},"model":"opus"}`;
  const diff = unifiedDiff('file', before, before.replace('{}', `{"Stop":"${'y'.repeat(3_000)}"}`));
  const [, , , old = '', , fresh = ''] = diff.split('\n');
  expect(old).toBe(`-…${before.slice(before.indexOf('{}') - 39)}`);
  expect(fresh).toMatch(/^\+….{40}"Stop":"y+ … 2\d{3} characters … .*"model":"opus"}$/);
  expect(fresh.length).toBeLessThan(450);
  const secret = `{"x":"${'y'.repeat(500)}","token":"abcdefghijklmnopqrstuvwxyz0123456789","hooks":{}}`;
  expect(unifiedDiff('file', secret, secret.replace('{}', '{"Stop":1}'))).not.toContain('0123456789');
});

it('is safe for a terminal and shows no secrets', () => {
  const diff = unifiedDiff('file', '', '\u001b[2J\n"token": "abcdefghijkl"\n\tindented\n');
  expect(diff).not.toContain('\u001b');
  expect(diff).not.toContain('abcdefghijkl');
  expect(diff).toContain('+\tindented');
});

it('leads from the one to the other, by the rules of a patch', () => {
  const line = fc.constantFrom('a\n', 'b\n', 'c\r\n', '\n', 'd\n');
  const text = fc
    .tuple(fc.array(line, { maxLength: 20 }), fc.constantFrom('', 'end'))
    .map(([all, end]) => `${all.join('')}${end}`);
  fc.assert(
    fc.property(text, text, (old, fresh) => {
      expect(patched(old, unifiedDiff('f', old, fresh))).toBe(fresh);
    }),
  );
});

it('of a file that changed nearly everywhere, shows the old one and the new one', () => {
  const whole = (word: string, count: number) => Array.from({ length: count }, (_, n) => `${word} ${n}\n`).join('');
  const [old, fresh] = [`${whole('old', 700)}same\nend`, `${whole('new', 800)}same\n`];
  const diff = unifiedDiff('file', old, fresh);
  expect(diff.split('\n').filter((line) => line.startsWith('@@'))).toEqual(['@@ -1,702 +1,801 @@']);
  expect(patched(old, diff)).toBe(fresh);
  expect(patched('', unifiedDiff('file', '', whole('new', 1_500)))).toBe(whole('new', 1_500));
});

/** As `patch` does it: what a hunk says of its place and length has to be so. */
function patched(before: string, diff: string): string {
  const old = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const fresh: string[] = [];
  let at = 0;
  let left = { old: 0, fresh: 0 };
  for (const line of diff.replaceAll('\n\\ No newline at end of file', '\u0000').split('\n').slice(2)) {
    const hunk = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@$/.exec(line)?.slice(1).map(Number);
    if (hunk !== undefined) {
      expect(left).toEqual({ old: 0, fresh: 0 });
      const [oldAt = 0, oldCount = 0, freshAt = 0, freshCount = 0] = hunk;
      fresh.push(...old.slice(at, oldCount === 0 ? oldAt : oldAt - 1));
      at = oldCount === 0 ? oldAt : oldAt - 1;
      expect(fresh.length).toBe(freshCount === 0 ? freshAt : freshAt - 1);
      left = { old: oldCount, fresh: freshCount };
      continue;
    }
    const text = line.endsWith('\u0000') ? line.slice(1, -1) : `${line.slice(1)}\n`;
    if (line[0] !== '+') {
      expect(old[at]).toBe(text);
      at += 1;
      left.old -= 1;
    }
    if (line[0] !== '-') {
      fresh.push(text);
      left.fresh -= 1;
    }
  }
  expect(left).toEqual({ old: 0, fresh: 0 });
  return [...fresh, ...old.slice(at)].join('');
}
