import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findInputBox } from './screen.ts';

const screen = (name: string) =>
  readFileSync(new URL(`../../../test/fixtures/screens/${name}.ansi.txt`, import.meta.url), 'utf8');

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
  it.each(cases)('%s', (name, expected) => expect(findInputBox(screen(name))).toEqual(expected));
});
