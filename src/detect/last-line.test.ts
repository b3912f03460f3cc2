import { describe, expect, it } from 'vitest';
import { untrusted } from '../model/text.ts';
import { failureAtEnd } from './last-line.ts';

describe('an output that ends like a failure', () => {
  it.each([
    'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: invalid literal',
    'json.decoder.JSONDecodeError: Expecting value\n\n',
    'KeyboardInterrupt',
    'building\nnpm ERR! code ELIFECYCLE',
    'npm error code 1',
    'Error: cannot find module x',
    'error: could not compile `thing`',
    'error[E0308]: mismatched types',
    'fatal: not a git repository',
    'panic: runtime error',
    'make[2]: *** [all] Error 2',
    'bash: line 1: frobnicate: command not found\r\n',
  ])('%j', (tail) => expect(failureAtEnd(untrusted(tail))).not.toBeNull());
});

describe('an output that does not', () => {
  it.each([
    '',
    '\n\n',
    'I fixed the TypeError',
    'Error: first try failed\nretrying',
    '  Error: shown within something else',
    '0 errors, 0 warnings',
    'Errors: 0',
    'Test failed successfully',
    'ValueErrorHandler registered',
    'an Exception was handled',
  ])('%j', (tail) => expect(failureAtEnd(untrusted(tail))).toBeNull());

  it('looks at a bounded piece of an endless line', () =>
    expect(failureAtEnd(untrusted(`Error: ${'x'.repeat(100_000)}`))).toHaveLength(500));
});
