import { describe, expect, it } from 'vitest';
import { problemOf } from './problem.ts';

describe('a failure is known again after a change', () => {
  it.each([
    ['its lines moved', 'src/a.rs:40:9: no method', 'src/a.rs:52:13: no method'],
    ['its lines moved, as others write them', 'a.ts(12,5): error TS1', 'a.ts(99,1): error TS1'],
    ['its lines moved, in words', 'File "a.py", line 12, in f', 'File "a.py", line 40, in f'],
    ['its margin moved', ' 12 | let x', ' 140 | let x'],
    ['it took longer', 'failed in 0.12s, duration_ms: 3.1', 'failed in 4.5s, duration_ms: 12.25'],
    ['it has another request id', 'RequestID: 4FA1C0B2D9, denied', 'RequestID: 00BB12AACD, denied'],
    ['it is in colour', '\u001b[31mfailed\u001b[0m', 'failed'],
  ])('%s', (_, one, other) => expect(problemOf(one)).toBe(problemOf(other)));

  it.each([
    ['fewer tests fail', '5 failed, 3 passed', '4 failed, 4 passed'],
    ['a compact count falls', '{"failed":5}', '{"failed":4}'],
    ['another test fails', 'FAIL test_1', 'FAIL test_2'],
    ['another error', 'error[E0502]: x', 'error[E0382]: x'],
    ['another value', 'expected 3, got 4', 'expected 3, got 5'],
  ])('and is another when %s', (_, one, other) => expect(problemOf(one)).not.toBe(problemOf(other)));

  it('of a long one beginning and end count', () => {
    const long = (end: string) => `begin ${'x '.repeat(20_000)}${end}`;
    expect(problemOf(long('3 failed'))).not.toBe(problemOf(long('2 failed')));
  });
});
