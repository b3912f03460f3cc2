import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { documentBytesMax } from '../model/handoff-file.ts';
import { lookInto } from '../model/text.ts';
import { lookAtHandoff, newestHandoff } from './handoff-file.ts';

const uid = process.getuid?.() ?? 0;
const hourMs = 3_600_000;
let base: string;
let root: string;
let file: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'wk-handoff-file-')));
  root = path.join(base, 'project');
  file = path.join(root, '.watchkeeper/handoffs/handoff.md');
  mkdirSync(path.dirname(file), { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const lookOnce = (at = file, place = {}) => lookAtHandoff(at, { root, uid, askedMs: Date.now() - hourMs, ...place });

/** What is found when nobody writes any more. */
function look(at = file, place = {}) {
  const untilMs = Date.now() + 10_000;
  for (;;) {
    const found = lookOnce(at, place);
    if (found.kind !== 'changing' || Date.now() > untilMs) return found;
  }
}

describe('a regular file of ours under the project', () => {
  it('is read, with its hash and time', () => {
    writeFileSync(file, 'Grüße\n');
    const sha256 = createHash('sha256').update('Grüße\n').digest('hex');
    expect(look()).toMatchObject({ kind: 'ok', text: 'Grüße\n', sha256, mtimeMs: expect.any(Number) });
  });
  it('may be of the largest size, and not one byte more', () => {
    writeFileSync(file, 'x'.repeat(documentBytesMax));
    expect(look().kind).toBe('ok');
    writeFileSync(file, 'x'.repeat(documentBytesMax + 1));
    expect(look()).toEqual({ kind: 'huge' });
  });
  it('may be under a project that is reached through a link', () => {
    writeFileSync(file, 'text');
    symlinkSync(root, path.join(base, 'linked'));
    const linked = path.join(base, 'linked');
    expect(look(path.join(linked, '.watchkeeper/handoffs/handoff.md'), { root: linked }).kind).toBe('ok');
  });
  it('may hold bytes that are no text', () => {
    writeFileSync(file, Buffer.from([0xff, 0xfe, 0x41]));
    expect(look()).toMatchObject({ kind: 'ok', text: '\ufffd\ufffdA' });
  });
});

describe('when it was written', () => {
  it('is not what a date in the future says', () => {
    writeFileSync(file, 'text');
    const nextWeek = new Date(Date.now() + 7 * 24 * hourMs);
    utimesSync(file, nextWeek, nextWeek);
    const found = look();
    expect(found.kind === 'ok' && found.mtimeMs <= Date.now()).toBe(true);
  });
  it('this very moment is seen also behind another date', () => {
    const anHourAgo = new Date(Date.now() - hourMs / 2);
    const kinds = Array.from({ length: 20 }, () => {
      writeFileSync(file, 'text');
      utimesSync(file, anHourAgo, anHourAgo);
      return lookOnce().kind;
    });
    expect(kinds).toContain('changing');
  });
});

describe('anything else is named, and not read', () => {
  it('nothing there', () => expect(look()).toEqual({ kind: 'missing' }));
  it('no directory there', () => expect(look(path.join(root, 'a/b/c.md'))).toEqual({ kind: 'missing' }));
  it('no project there', () => expect(look(file, { root: path.join(base, 'gone') }).kind).toBe('outside'));
  it('a file where a directory should be', () => {
    writeFileSync(path.join(root, 'a'), '');
    expect(look(path.join(root, 'a/b.md'))).toEqual({ kind: 'missing' });
  });
  it('an empty file, or blanks only', () => {
    writeFileSync(file, '');
    expect(look()).toEqual({ kind: 'empty' });
    writeFileSync(file, ' \n\n');
    expect(look()).toEqual({ kind: 'empty' });
  });
  it('a hundred megabytes', () => {
    writeFileSync(file, '');
    execFileSync('truncate', ['-s', '100M', file]);
    expect(look()).toEqual({ kind: 'huge' });
  });
  it('one of last week', () => {
    writeFileSync(file, 'text');
    const old = Date.now() / 1000 - 7 * 86_400;
    utimesSync(file, old, old);
    expect(look()).toEqual({ kind: 'old' });
  });
  it('one written before it was asked for again', () => {
    writeFileSync(file, 'text');
    expect(look(file, { askedMs: Date.now() + 1000 })).toEqual({ kind: 'old' });
  });
  it('a link to a file, also within the project', () => {
    writeFileSync(path.join(root, 'real.md'), 'text');
    symlinkSync(path.join(root, 'real.md'), file);
    expect(look()).toEqual({ kind: 'link' });
  });
  it('a link that leads nowhere, or to itself', () => {
    symlinkSync('/nowhere', file);
    expect(look()).toEqual({ kind: 'link' });
    rmSync(file);
    symlinkSync(file, file);
    expect(look()).toEqual({ kind: 'link' });
  });
  it('a link on the way', () => {
    const elsewhere = path.join(base, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(path.join(elsewhere, 'handoff.md'), 'text');
    rmSync(path.dirname(file), { recursive: true });
    symlinkSync(elsewhere, path.dirname(file));
    expect(look()).toEqual({ kind: 'link' });
  });
  it('a directory', () => {
    mkdirSync(file);
    expect(look()).toEqual({ kind: 'not-regular' });
  });
  it('a pipe, without waiting for its writer', () => {
    execFileSync('mkfifo', [file]);
    expect(look()).toEqual({ kind: 'not-regular' });
  });
  it('a socket', async () => {
    const place = path.join(root, 's');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(place, resolve));
    expect(look(place)).toEqual({ kind: 'not-regular' });
    await new Promise((resolve) => server.close(resolve));
  });
  it.each(['/etc/passwd', '../outside.md', '..', '.', 'relative.md'])('another place: %s', (place) => {
    writeFileSync(path.join(base, 'outside.md'), 'text');
    expect(look(place.startsWith('/') || place === 'relative.md' ? place : path.join(root, place))).toEqual({
      kind: 'outside',
    });
  });
  it("somebody else's file", () => {
    writeFileSync(file, 'text');
    expect(look(file, { uid: uid + 1 })).toEqual({ kind: 'unreadable' });
  });
  it.skipIf(uid === 0)('a file that may not be read', () => {
    writeFileSync(file, 'text');
    chmodSync(file, 0o000);
    expect(look()).toEqual({ kind: 'unreadable' });
  });
});

describe("the file that a recipe's path means", () => {
  const at = (name: string, ageS: number) => {
    const place = path.join(root, name);
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, 'text');
    utimesSync(place, Date.now() / 1000 - ageS, Date.now() / 1000 - ageS);
    return place;
  };
  const newest = (pattern: string) => newestHandoff(path.join(root, pattern), { root });

  it('is the newest of those its stars allow', () => {
    at('.tina/phase-1/handoff.md', 10);
    const second = at('.tina/phase-2/handoff.md', 5);
    at('.tina/phase-3/other.md', 1);
    at('.tina/other/handoff.md', 1);
    expect(newest('.tina/phase-*/handoff.md')).toBe(second);
    expect(look(newest('.tina/phase-*/handoff.md')).kind).toBe('ok');
  });
  it('is the newest of a directory', () => {
    at('notes/a.md', 10);
    const newer = at('notes/b.md', 5);
    at('notes/.c.md', 1);
    at('notes/d.txt', 1);
    expect(newest('notes/*.md')).toBe(newer);
  });
  it('is the path itself without a star, or where nothing is there', () => {
    expect(newest('a/b.md')).toBe(path.join(root, 'a/b.md'));
    expect(look(newest('none/*.md'))).toEqual({ kind: 'missing' });
  });
  it('is not read through a link that a star allows', () => {
    const elsewhere = path.join(base, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(path.join(elsewhere, 'handoff.md'), 'text');
    mkdirSync(path.join(root, '.tina'));
    symlinkSync(elsewhere, path.join(root, '.tina/phase-9'));
    expect(look(newest('.tina/phase-*/handoff.md'))).toEqual({ kind: 'link' });
  });
});

describe('while somebody writes', () => {
  it('nothing is taken for whole in the moment it was written', () => {
    writeFileSync(file, 'text');
    const now = Date.now() / 1000;
    utimesSync(file, now, now);
    const found = lookOnce();
    // Unless this machine slept in between.
    if (Date.now() / 1000 - now < 0.019) expect(found).toEqual({ kind: 'changing' });
    expect(look().kind).toBe('ok');
  });

  /** Runs the step over and over in a thread of its own until the looks are done. */
  async function during(step: string, data: object, looks: () => boolean): Promise<void> {
    const code = `
      const { workerData } = require('node:worker_threads');
      const fs = require('node:fs');
      let turn = 0;
      const step = () => { turn += 1; ${step} };
      step();`;
    const worker = new Worker(code, { eval: true, workerData: data });
    await new Promise((resolve) => worker.once('online', resolve));
    const untilMs = Date.now() + 20_000;
    while (!looks() && Date.now() < untilMs);
    await worker.terminate();
  }

  const write = `
    const text = (turn % 2 ? 'a' : 'b').repeat(turn % 2 ? 200000 : 150000);
    if (workerData.byRename) {
      fs.writeFileSync(workerData.file + '.new', text);
      fs.renameSync(workerData.file + '.new', workerData.file);
    } else fs.writeFileSync(workerData.file, text);
    setTimeout(step, turn % 8 ? 0 : 40);`;

  it.each([true, false])(
    'what is read is the text of one moment (by rename: %s)',
    async (byRename) => {
      const read: string[] = [];
      await during(write, { file, byRename }, () => {
        const found = lookOnce();
        if (found.kind === 'ok') read.push(lookInto(found.text));
        return read.length >= 200;
      });
      expect(read.length).toBeGreaterThan(0);
      const mixed = read.filter((text) => text !== (text[0] ?? '').repeat(text.length));
      expect(mixed.map((text) => text.length)).toEqual([]);
    },
    30_000,
  );

  it('a directory exchanged for a link leads nowhere else', async () => {
    const elsewhere = path.join(base, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(path.join(elsewhere, 'handoff.md'), 'not ours');
    writeFileSync(file, 'ours');
    expect(look().kind).toBe('ok');
    const exchange = `
      fs.renameSync(workerData.folder, workerData.folder + '.kept');
      fs.symlinkSync(workerData.elsewhere, workerData.folder);
      fs.unlinkSync(workerData.folder);
      fs.renameSync(workerData.folder + '.kept', workerData.folder);
      setImmediate(step);`;
    const read = new Set<string>();
    let looks = 0;
    await during(exchange, { folder: path.dirname(file), elsewhere }, () => {
      const found = lookOnce();
      if (found.kind === 'ok') read.add(lookInto(found.text));
      looks += 1;
      return looks >= 5_000;
    });
    expect([...read].filter((text) => text !== 'ours')).toEqual([]);
  }, 30_000);
});
