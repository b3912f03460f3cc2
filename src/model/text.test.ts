import { describe, expect, it } from 'vitest';
import { shown } from './text.ts';

describe('no control character from an agent reaches terminal, log or database unescaped', () => {
  const cases: [string, string, string][] = [
    ['an escape sequence', '\u001b[31mred\u001b[0m', '\\x1b[31mred\\x1b[0m'],
    ['an OSC title', '\u001b]0;owned\u0007', '\\x1b]0;owned\\x07'],
    ['a C1 control', 'a\u009bm', 'a\\x9bm'],
    ['U+0000, which PostgreSQL cannot hold', 'a\u0000b', 'a\\x00b'],
    ['a line break', 'a\nb\r', 'a\\nb\\r'],
    ['a bidi override', 'a\u202eb', 'a\\u{202e}b'],
    ['a lone surrogate', 'a\ud800b', 'a\ufffdb'],
    ['plain unicode', 'grüße 日本 🎉', 'grüße 日本 🎉'],
  ];
  it.each(cases)('%s', (_name, text, expected) => expect(shown(text)).toBe(expected));

  it('long text is cut', () => expect(shown('x'.repeat(5000), 10)).toBe(`${'x'.repeat(10)}…`));
});

describe('secrets are redacted before they are stored', () => {
  it.each([
    `key sk-${'abcdefghijklmnop'.repeat(2)} is wrong`,
    'Authorization: Bearer abcdefghijklmnopqrstuvwxyz',
    'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
    'password=hunter2hunter2',
    'postgresql://user:geheimes@host/db',
  ])('%s', (text) => {
    expect(shown(text)).toContain('[redacted]');
    expect(shown(text)).not.toMatch(/abcdefghijklmnop|hunter2|geheimes/);
  });
});
