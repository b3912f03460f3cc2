// A file of somebody else that has two names is one file, and stays it.
import { linkSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type OwnFile, openOwn, replaceOwn } from './own-file.ts';

const dir = mkdtempSync(path.join(os.tmpdir(), 'wk-own-file-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

let made = 0;

function linked(text: string): { file: OwnFile; both: string[] } {
  made += 1;
  const both = ['a', 'b'].map((name) => path.join(dir, `${made}-${name}.json`)) as [string, string];
  writeFileSync(both[0], text);
  linkSync(...both);
  const opened = openOwn(both[0]);
  if (!opened.ok) throw new Error(opened.message);
  return { file: opened.value, both };
}

describe('a file with two names', () => {
  it.each([
    ['a longer text', 'short', 'a text that is longer'],
    ['a shorter text', 'a text that is longer', 'short'],
    ['nothing', 'text', ''],
  ])('has %s under both of them', (_name, before, after) => {
    const { file, both } = linked(before);
    expect(replaceOwn(file, Buffer.from(after)).ok).toBe(true);
    expect(both.map((name) => readFileSync(name, 'utf8'))).toEqual([after, after]);
    expect(new Set(both.map((name) => statSync(name).ino)).size).toBe(1);
  });

  it('is left alone where somebody has written to it meanwhile', () => {
    const { file, both } = linked('text');
    writeFileSync(both[1] ?? '', 'theirs, in the meantime');
    expect(replaceOwn(file, Buffer.from('ours'))).toMatchObject({ ok: false, reason: 'changed' });
    expect(both.map((name) => readFileSync(name, 'utf8'))).toEqual(Array(2).fill('theirs, in the meantime'));
  });
});
