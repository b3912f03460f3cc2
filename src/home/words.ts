import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { makeFolder, writeByRename } from '../act/install/own-file.ts';
import type { WordKind } from '../model/action.ts';
import type { Caller } from '../model/caller.ts';
import type { Files } from '../model/world.ts';
import type { Home } from './home.ts';

/**
 * What people said to Watchkeeper about itself, such as a pause: a small file for each until the ledger has it. So it is on
 * record also where neither daemon nor database was there to hear it.
 */
export type Word = z.output<typeof wordShape>;

export const wordCharsMax = 500;
const fileBytesMax = 8 * 1024;
const filesMax = 100;

const wordShape = z.strictObject({
  /** Of its row, so that it is written once. */
  id: z.uuid(),
  atMs: z.number().int().nonnegative(),
  kind: z.enum(['pause', 'unpause', 'stop'] satisfies WordKind[]),
  by: z.custom<Caller>((by) => typeof by === 'string' && /^(human|agent) .{1,200}$/.test(by)),
  about: z.record(z.string().max(40), z.union([z.string().max(wordCharsMax), z.boolean()])),
});

export function newWord(kind: Word['kind'], by: Caller, about: Word['about'] = {}, id: string = randomUUID()): Word {
  return { id, atMs: Date.now(), kind, by, about };
}

/** false: it could not be written. */
export function leaveWord(home: Home, word: Word): boolean {
  if (!makeFolder(home.wordsDir, 0o700).ok) return false;
  return writeByRename(fileOf(home, word), Buffer.from(`${JSON.stringify(word)}\n`), 0o600).ok;
}

/** The oldest first. What is no word is left where it is. */
export function wordsLeft(home: Home, files: Pick<Files, 'list' | 'readSmall'>): Word[] {
  const names = (files.list(home.wordsDir) ?? []).filter((name) => name.endsWith('.json')).slice(0, filesMax);
  const words = names.flatMap((name) => {
    const read = files.readSmall(path.join(home.wordsDir, name), fileBytesMax);
    const word = read.ok ? wordIn(read.text) : null;
    return word === null || `${word.id}.json` !== name ? [] : [word];
  });
  return words.sort((a, b) => a.atMs - b.atMs);
}

export function removeWord(home: Home, word: Word): void {
  rmSync(fileOf(home, word), { force: true });
}

function fileOf(home: Home, { id }: Word): string {
  return path.join(home.wordsDir, `${id}.json`);
}

function wordIn(text: string): Word | null {
  try {
    return wordShape.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
