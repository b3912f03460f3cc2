import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { squeezedDigest } from './call-digest.ts';
import { settledDigest, settledStart } from './settled.ts';

/** What the one pass stands for. */
function settled(text: string, isError: boolean): string {
  const calm = text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?/g, '<time>')
    .replace(/\b\d\d:\d\d:\d\d(\.\d+)?\b/g, '<time>')
    .replace(/\b\d+(\.\d+)? ?(ms|µs|ns|s|sec|seconds)\b/g, '<took>')
    .replace(/\/tmp\/[\w.+/-]+/g, '<temp>')
    .replace(/\b(pid|process|chunk|id)[ :=#]+\w{1,40}/gi, '<id>')
    .replace(/\b0x[\da-f]+\b/gi, '<address>')
    .replace(/\b(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{8,}(-[\da-f]{4,})*\b/gi, '<id>');
  return isError ? calm.replace(/\d+/g, '#') : calm;
}

const pieces = fc.constantFrom(
  ...['12', '7.5', '99', '0', ' ', '\n  ', '\t', '\u00a0', '/tmp/', '/tmp/a-b.c', 'id', 'pid', 'PROCESS', 'chunk', '='],
  ...[
    ' 2026-03-01T10:11:12.5Z ',
    ' 2026-03-01\n10:11 ',
    ' 10:11:12 ',
    'ms',
    's',
    'seconds',
    'µs',
    ' 0x1f ',
    'abc',
    'ad3',
    '4be1f09c',
    'DEADBEEF',
    '_',
  ],
  ...['-', ':', '#', '.', '/', 'é', '→', '<time>', 'T', 'Z', '+'],
);
const text = fc.array(pieces, { maxLength: 12 }).map((some) => some.join(''));

describe('an output is known again', () => {
  it.each([
    ['times', 'at 2026-03-01T10:11:12Z', 'at 2027-11-30 01:02:03.456+02:00'],
    ['durations', 'took 1.5 s, then 20ms', 'took 12 seconds, then 7 ms'],
    ['temp paths', 'wrote /tmp/a/b.txt now', 'wrote /tmp/zz-9 now'],
    ['ids', 'pid 123 and chunk: ab12', 'PID=9 and chunk #ff'],
    ['hashes', 'commit 4be1f09c2 of sha256:00ff12ab', 'commit c0ffee11d of sha256:9a8b7c6d5e'],
    [
      'request ids',
      '{"requestId":"3f2a9c10-7d1e-4b55-9d0f-aa10bb20cc30"}',
      '{"requestId":"0e9d8c7b-1a2b-3c4d-5e6f-001122334455"}',
    ],
    ['addresses and blanks', 'at 0xff\n\n  done ', 'at 0x00123 done'],
  ])('whatever its %s', (_, one, other) => {
    expect(settledDigest(one, '', false)).toBe(settledDigest(other, '', false));
    expect(settledStart(one, false)).toEqual(settledStart(other, false));
  });

  it('numbers differ, but not those of an error', () => {
    expect(settledDigest('12 failed', '', false)).not.toBe(settledDigest('13 failed', '', false));
    expect(settledDigest('12 failed', '', true)).toBe(settledDigest('13 failed', '', true));
  });

  it('as if each kind of change were taken out by itself', () => {
    fc.assert(
      fc.property(text, fc.boolean(), (one, isError) => {
        expect(settledDigest(one, '', isError)).toBe(squeezedDigest(settled(one, isError), ''));
      }),
      { numRuns: 2_000 },
    );
  });

  it('outputs that are equal have equal starts, however long they are', () => {
    fc.assert(
      fc.property(text, fc.nat(40), fc.nat(4_000), (one, times, blanks) => {
        const long = `${one} word `.repeat(times);
        const wide = long.replace(' word ', ` word${' '.repeat(blanks + 1)}`);
        expect(settledStart(wide, false).start).toBe(settledStart(long, false).start);
      }),
    );
  });
});
