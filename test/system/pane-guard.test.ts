// The last look and the key are one command inside tmux: whatever has become of the pane by then, nothing gets into it.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type PaneTerminal, type TypingGuard, tmuxPane } from '../../src/act/pane-terminal.ts';
import { Tmux } from '../../src/conform/tmux.ts';
import { until } from '../../src/conform/until.ts';
import type { TypableText } from '../../src/model/text.ts';

let dir: string;
let tmux: Tmux;
let pane: PaneTerminal;
let guard: TypingGuard;

const fence = '7-70-1';

/** Shows the client's box, and then all that comes in; one row each. */
const program = "printf '❯\\302\\240\\n'; exec cat";

beforeEach(async () => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'wk-guard-'));
  mkdirSync(path.join(dir, `tmux-${process.getuid?.()}`), { mode: 0o700 });
  tmux = new Tmux(dir, { PATH: process.env.PATH, TERM: 'xterm-256color', LANG: 'C.UTF-8', HOME: dir });
  await tmux.run('-u', 'new-session', '-d', '-s', 'a-ps', '-x', '80', '-y', '20', program);
  pane = tmuxPane(tmux.socket, '%0', { still: () => true, fence });
  await until('the box', async () => (await pane.screen())?.includes('❯'));
  const facts = await until('cat in front', async () => {
    const now = await pane.facts();
    return now?.command === 'cat' ? now : null;
  });
  expect(await pane.fence()).toBe(true);
  guard = { panePid: facts.pid, command: 'cat', boxMark: '❯', shows: null, onlookers: facts.onlookers };
});
afterEach(async () => {
  await tmux.close();
  rmSync(dir, { recursive: true, force: true });
});

const hello = 'hello there' as TypableText;

const screen = async (target = '%0') => (await tmux.ask('capture-pane', '-p', '-t', target)) ?? '';

describe('while everything is as it was', () => {
  it('text and keys come in', async () => {
    expect(await pane.paste(hello, guard)).toBe('done');
    // The program in the pane takes its time to show it.
    await until('the text', async () => (await screen()).includes('hello there'));
    expect(await pane.keys('Enter', 1, { ...guard, shows: { text: 'hello there', last: false } })).toBe('done');
    await until('the text twice', async () => (await screen()).split('hello there').length === 3);
    expect((await tmux.run('list-buffers')).trim()).toBe('');
  });
});

describe('nothing is typed', () => {
  it('nor submitted once it was said that it may not, however late that was', async () => {
    let still = true;
    const late = tmuxPane(tmux.socket, '%0', { still: () => still, fence });
    expect(await late.paste(hello, guard)).toBe('done');
    still = false;
    const before = await screen();
    expect([await late.paste(hello, guard), await late.keys('Enter', 1, guard)]).toEqual(['not-now', 'not-now']);
    expect(await screen()).toBe(before);
    expect((await tmux.run('list-buffers')).trim()).toBe('');
    expect(await late.keys('C-u', 1, guard)).toBe('not-now');
    // What was typed is ours to take out again.
    expect(await late.keys('C-u', 1, { ...guard, takesBack: true })).toBe('done');
  });

  it('nor submitted by one who has lost the agent, though its last look at the hold was before that', async () => {
    // It is suspended between its paste and its Enter; the next one takes the agent over meanwhile, and it is woken.
    expect(await pane.paste(hello, guard)).toBe('done');
    const next = tmuxPane(tmux.socket, '%0', { still: () => true, fence: '7-70-2' });
    expect(await next.fence()).toBe(true);
    const before = await screen();
    expect([await pane.keys('Enter', 1, guard), await pane.paste(hello, guard)]).toEqual(['not-now', 'not-now']);
    expect(await screen()).toBe(before);
    expect(await next.keys('C-u', 1, guard)).toBe('done');
    // By now it has looked at the hold again, and does not put its own number back.
    expect(await tmuxPane(tmux.socket, '%0', { still: () => false, fence }).fence()).toBe(false);
    expect(await next.keys('Enter', 1, guard)).toBe('done');
  });

  const other: [string, () => Promise<unknown>, Partial<TypingGuard>][] = [
    ['into a pane that another process has by now', async () => {}, { panePid: 1 }],
    ['into another program than the client', async () => {}, { command: 'claude' }],
    ['where the box is not on the screen', async () => {}, { boxMark: '▌' }],
    ['where our own text is not on the screen', async () => {}, { shows: { text: 'wk-12ab', last: false } }],
    ['into a mode of tmux', () => tmux.run('copy-mode', '-t', '%0'), {}],
    [
      'where all panes of the window would get it',
      () => tmux.run('set', '-w', '-t', 'a-ps', 'synchronize-panes', 'on'),
      {},
    ],
    ['by a name that could mean something to tmux', async () => {}, { command: 'cat,1}' }],
    [
      'into a pane whose program has ended',
      async () => {
        await tmux.run('set', '-g', 'remain-on-exit', 'on');
        await tmux.run('send-keys', '-t', '%0', 'C-d');
        await until('it dead', async () => (await pane.facts())?.dead);
      },
      {},
    ],
    [
      'into the pane of that number in a server that was started anew',
      async () => {
        const server = await tmux.run('display-message', '-p', '#{pid}');
        await tmux.run('kill-server');
        await until('the server gone', () => !existsSync(`/proc/${server.trim()}`));
        await tmux.run('-u', 'new-session', '-d', '-s', 'other', program);
        await until('the box', async () => (await screen()).includes('❯'));
        await until('cat', async () => (await pane.facts())?.command === 'cat');
      },
      {},
    ],
  ];
  it.each(other)('%s', async (_where, happened, more) => {
    await happened();
    const before = await screen();
    const now = { ...guard, ...more };
    expect([await pane.paste(hello, now), await pane.keys('Enter', 1, now)]).toEqual(['not-now', 'not-now']);
    expect(await screen()).toBe(before);
    expect((await tmux.run('list-buffers')).trim()).toBe('');
  });

  it('where no tmux answers, and that is said', async () => {
    await tmux.run('kill-server');
    expect(await pane.paste(hello, guard)).toBe('not-now');
    expect(await pane.keys('Enter', 1, guard)).toBe('unknown');
    expect(await pane.facts()).toBeNull();
  });
});
