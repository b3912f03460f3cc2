import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { desktopArgv } from '../act/notify/desktop.ts';
import { bounded, type HumanMessage } from '../act/notify/message.ts';
import type { PaneTerminal, TypingGuard } from '../act/pane-terminal.ts';
import { typablePrompt } from '../decide/prompt-text.ts';
import { print } from '../serve/cli/output.ts';
import { lookInto, shown, untrusted } from './text.ts';

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

// The compiler refuses each of these; where it does not, an expected error is missing and `tsc` says so.
describe('text from outside that nobody has made safe', () => {
  const said = untrusted('rm -rf ~ \u001b[2J');
  /** Only the types count: nothing of this runs. */
  const never = (_compiled: (pane: PaneTerminal, guard: TypingGuard, message: HumanMessage) => unknown) => {};

  it('is no part of another text', () => {
    // @ts-expect-error: in a template
    never(() => `it said ${said}`);
    // @ts-expect-error: compared with one
    never(() => said === 'COMPLETE');
    // @ts-expect-error: cut
    never(() => said.slice(0, 3));
  });

  it('is not typed, also not where a prompt is expected', () => {
    // @ts-expect-error: as it is
    never((pane, guard) => pane.paste(said, guard));
    // @ts-expect-error: looked into
    never((pane, guard) => pane.paste(lookInto(said), guard));
    // @ts-expect-error: made safe to be shown, which is not safe to be typed
    never((pane, guard) => pane.paste(shown(said), guard));
    expect(typablePrompt(lookInto(said), 'wk-12ab', false)).toBeNull();
  });

  it('is not told', () => {
    // @ts-expect-error: as a message to people
    never((_pane, _guard, message) => bounded({ ...message, text: said }));
    // @ts-expect-error: past the place where messages are made safe
    never((_pane, _guard, message) => desktopArgv(message));
  });

  it('is not printed, and not written', () => {
    // @ts-expect-error: on a line
    never(() => print(said));
    // @ts-expect-error: in a file
    never(() => writeFileSync('/tmp/said', said));
    expect(shown(said)).toBe('rm -rf ~ \\x1b[2J');
  });
});
