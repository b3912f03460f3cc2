// What people say about Watchkeeper itself is on record once, under their name, whatever ran when they said it.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findHome, type Home } from '../home/home.ts';
import { leaveWord, newWord } from '../home/words.ts';
import type { Action } from '../model/action.ts';
import { fail, ok } from '../model/result.ts';
import { ownFiles } from '../sense/files.ts';
import { Words } from './words.ts';

let home: Home;
let rows: Map<string, Action>;
let isAway: boolean;
/** The daemon dies when the row is there and the file is not gone yet. */
let dies: boolean;

beforeEach(() => {
  home = findHome({ WATCHKEEPER_HOME: mkdtempSync(path.join(os.tmpdir(), 'wk-words-')) });
  rows = new Map();
  isAway = false;
  dies = false;
});
afterEach(() => rmSync(home.dir, { recursive: true, force: true }));

function daemon(): Words {
  const storeWord = async (word: Action) => {
    if (isAway) return fail('unavailable', 'away');
    if (!rows.has(word.id)) rows.set(word.id, word);
    if (dies) throw new Error('killed');
    return ok(undefined);
  };
  const files = ownFiles(process.getuid?.() ?? 0);
  return new Words({ host: 'h', home, files, store: { storeWord }, failed: () => {} });
}

const said = () => [...rows.values()].map(({ kind, intent, atMs }) => ({ kind, ...intent, atMs }));
const left = () => readdirSync(home.wordsDir);

it('what was said without a daemon is on record when there is one, by whom and when, the oldest first', async () => {
  const [first, second] = [newWord('pause', 'human eve', { reason: 'lunch' }), newWord('unpause', 'human bob')];
  leaveWord(home, { ...second, atMs: 2_000 });
  leaveWord(home, { ...first, atMs: 1_000 });
  expect(left().map((name) => statSync(path.join(home.wordsDir, name)).mode & 0o777)).toEqual([0o600, 0o600]);
  await daemon().store();
  expect(said()).toEqual([
    { kind: 'pause', by: 'human eve', reason: 'lunch', atMs: 1_000 },
    { kind: 'unpause', by: 'human bob', atMs: 2_000 },
  ]);
  expect(left()).toEqual([]);
});

it('what is said while the database is away is stored later, also by the next daemon', async () => {
  isAway = true;
  const words = daemon();
  words.say(newWord('stop', 'human eve'));
  await words.store();
  expect(said()).toEqual([]);
  isAway = false;
  await daemon().store();
  expect(said()).toMatchObject([{ kind: 'stop', by: 'human eve' }]);
});

it('a daemon that is killed before the file is gone stores nothing twice, nor does one that answers too late', async () => {
  dies = true;
  const word = newWord('pause', 'human eve');
  daemon().say(word);
  leaveWord(home, word);
  await new Promise(setImmediate);
  dies = false;
  await daemon().store();
  expect(said()).toHaveLength(1);
  expect(left()).toEqual([]);
});

it('is on record also where no disk takes it', async () => {
  writeFileSync(home.wordsDir, 'no folder can be here');
  const words = daemon();
  words.say(newWord('pause', 'human eve'));
  await words.store();
  expect(said()).toMatchObject([{ kind: 'pause', by: 'human eve' }]);
});

it('nothing but a word is taken from the folder', async () => {
  mkdirSync(home.wordsDir);
  const word = newWord('pause', 'human eve');
  const others = [
    { ...word, kind: 'prompt' },
    { ...word, by: 'rule' },
    { ...word, by: 'human eve\n' },
    { ...word, intent: { text: 'x' } },
    { ...word, about: { reason: 'x'.repeat(1_000) } },
    { ...word, id: '00000000-0000-4000-8000-000000000000' },
  ];
  for (const other of others) {
    writeFileSync(path.join(home.wordsDir, `${word.id}.json`), JSON.stringify(other));
    await daemon().store();
    expect(said()).toEqual([]);
  }
});
