import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findInputBox } from './screen.ts';

const screen = (name: string) =>
  readFileSync(new URL(`../../../test/fixtures/screens/recorded/${name}.ansi.txt`, import.meta.url), 'utf8');

describe('the input box of a recorded screen', () => {
  const cases: [string, { text: string } | null][] = [
    ['05-idle-fresh', { text: '' }],
    ['07-idle-after-reply', { text: '' }],
    ['09-busy-streaming', { text: '' }],
    ['19-tool-running', { text: '' }],
    ['63-compact-in-progress', { text: '' }],
    ['62-stash-restored', { text: 'user half typed draft' }],
    // "Press up to edit queued messages" is the client's own hint, not a draft.
    ['40-queued-while-busy', { text: '' }],
    ['14-permission-bash', null],
    ['22-askuserquestion', null],
    ['02-onb-only-completed', null],
    ['44-escesc-idle', null],
    ['57-after-exit', null],
  ];
  it.each(cases)('%s', (name, expected) => {
    const box = findInputBox(screen(name));
    if (expected === null) expect(box).toBeNull();
    else expect(box).toEqual({ ...expected, mark: '❯\u00a0', stashed: false, chosen: null });
  });
});

describe('the input box, drawn', () => {
  const line = '─'.repeat(40);
  const drawn = (inside: string, above = '') => [above, line, inside, line, '  ? for shortcuts'].join('\n');
  const cases: [string, string, { text: string; stashed: boolean } | null][] = [
    ['empty', drawn('❯\u00a0\u001b[7m \u001b[0m'), { text: '', stashed: false }],
    [
      'a hint, the cursor on its first character',
      drawn('❯\u00a0\u001b[7mT\u001b[0m\u001b[2mry this\u001b[0m'),
      { text: '', stashed: false },
    ],
    [
      'one character typed, a hint behind it',
      drawn('❯\u00a0a\u001b[7m \u001b[0m\u001b[2m hint\u001b[0m'),
      { text: 'a', stashed: false },
    ],
    ['a wrapped text', drawn('❯\u00a0one two\n  three'), { text: 'one two\nthree', stashed: false }],
    ['a text put aside', drawn('❯\u00a0more', '       /effort · › stashed'), { text: 'more', stashed: true }],
    ['said earlier, not typed now', drawn('❯ said'), null],
    ['shell mode', drawn('!\u00a0ls'), null],
  ];
  it.each(cases)('%s', (_name, shown, expected) => {
    if (expected === null) expect(findInputBox(shown)).toBeNull();
    else expect(findInputBox(shown)).toEqual({ ...expected, mark: '❯\u00a0', chosen: null });
  });
});

describe('the menu of commands that 2.1.200 draws below the box', () => {
  const old = (name: string) =>
    readFileSync(
      new URL(`../../../test/fixtures/screens/older-versions/2.1.200-${name}.ansi.txt`, import.meta.url),
      'utf8',
    );
  const line = '─'.repeat(60);
  const below = (typed: string, ...rows: string[]) =>
    ['● Said.', '', line, `❯\u00a0${typed}`, line, ...rows].join('\n');
  it.each([
    ['menu-clear', '/clear', '/clear'],
    ['menu-compact', '/compact', '/compact'],
    ['menu-no-match', '/handoff', null],
  ])('%s: the box is there', (name, text, chosen) =>
    expect(findInputBox(old(name))).toEqual({ text, mark: '❯\u00a0', stashed: false, chosen }),
  );
  it.each([
    ['a shell behind a client that has left', below('/clear', '/home/me/project $ ls')],
    ['what a program printed', below('/clear', '/clear   Start anew', 'rm: cannot remove it')],
    ['a list while no command is typed', below('clear', '/clear   Start anew')],
    ['columns that do not fit', below('/c', '/clear   Start anew', '/compact  Free up')],
  ])('%s is no menu', (_name, shown) => expect(findInputBox(shown)).toBeNull());
  it('without colours the first is the chosen one', () =>
    expect(findInputBox(below('/c', '/clear    Start anew', '/compact  Free up'))?.chosen).toBe('/clear'));
});

describe('the command chosen in the menu over the box', () => {
  const line = '─'.repeat(60);
  const under = (...above: string[]) =>
    ['● Said.', '', ...above, line, '❯\u00a0/tina:check', line, '  ? for it'].join('\n');
  const entry = '    /tina:rehydrate     Take it up. (project)';
  const cases: [string, string, string | null][] = [
    ['no menu', under(), null],
    ['the only one', under('  ❯ /tina:checkpoint    Write it down. (project)'), '/tina:checkpoint'],
    ['the first of several', under('  ❯ /tina:checkpoint    Write it down. (project)', entry), '/tina:checkpoint'],
    [
      'one with a long description',
      under(entry, '  ❯ /clear              Start a new session with empty', `${' '.repeat(24)}context`, entry),
      '/clear',
    ],
    ['one that is cut off', under('  ❯ …na:checkpoint  Write it', `${' '.repeat(20)}down.`), '…na:checkpoint'],
    ['a menu in which none is chosen', under('    /tina:checkpoint    Write it down. (project)', entry), null],
    ['a hint of the client', under(`${' '.repeat(40)}◐ medium · /effort`), null],
    ['what was said earlier', under('❯ /tina:checkpoint', entry), null],
    ['somewhere above', under('  ❯ /tina:checkpoint', '', entry), null],
  ];
  it.each(cases)('%s', (_name, shown, chosen) => expect(findInputBox(shown)?.chosen).toBe(chosen));
});
