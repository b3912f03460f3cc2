import { appendFileSync, mkdtempSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FileInfo, Files } from '../model/world.ts';
import { ownFiles } from './files.ts';
import { followLimits, LineFollower } from './line-follower.ts';

let folder: string;
let file: string;
const uid = process.getuid?.() ?? -1;
const files = ownFiles(uid);
const texts = (follower: LineFollower) => follower.poll().lines.map((line) => line.text);

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'wk-follow-'));
  file = path.join(folder, 'log.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a growing file is read once, line by line', () => {
  it('gives each line once, with its place', () => {
    writeFileSync(file, 'one\ntwo\n');
    const follower = new LineFollower(files, file);
    expect(follower.poll().lines).toEqual([
      { text: 'one', offset: 0 },
      { text: 'two', offset: 4 },
    ]);
    appendFileSync(file, 'three\n');
    expect(follower.poll().lines).toEqual([{ text: 'three', offset: 8 }]);
    expect(texts(follower)).toEqual([]);
  });

  it('holds a half-written line back until it is whole, also within a character', () => {
    const follower = new LineFollower(files, file);
    const bytes = Buffer.from('käse\n');
    writeFileSync(file, bytes.subarray(0, 2));
    expect(texts(follower)).toEqual([]);
    appendFileSync(file, bytes.subarray(2));
    expect(follower.poll().lines).toEqual([{ text: 'käse', offset: 0 }]);
  });

  it('starts again when the file was cut', () => {
    writeFileSync(file, 'one\ntwo\n');
    const follower = new LineFollower(files, file);
    follower.poll();
    truncateSync(file, 0);
    appendFileSync(file, 'new\n');
    const batch = follower.poll();
    expect(batch.restarted).toBe(true);
    expect(batch.lines.map((line) => line.text)).toEqual(['new']);
  });

  it('starts again when another file took its name', () => {
    writeFileSync(file, 'one\n');
    const follower = new LineFollower(files, file);
    follower.poll();
    writeFileSync(`${file}.2`, 'other\nmore\n');
    renameSync(`${file}.2`, file);
    const batch = follower.poll();
    expect(batch.restarted).toBe(true);
    expect(batch.lines.map((line) => line.text)).toEqual(['other', 'more']);
  });

  it('starts again when other content took its place, longer than before and under the same inode', () => {
    writeFileSync(file, 'one\ntwo\n');
    const follower = new LineFollower(files, file);
    follower.poll();
    writeFileSync(file, 'other\nand more than there was\n');
    const batch = follower.poll();
    expect(batch.restarted).toBe(true);
    expect(batch.lines.map((line) => line.text)).toEqual(['other', 'and more than there was']);
  });

  it('goes on where it was when the file was away for a while', () => {
    writeFileSync(file, 'one\n');
    const follower = new LineFollower(files, file);
    follower.poll();
    renameSync(file, `${file}.away`);
    expect(follower.poll()).toMatchObject({ failure: 'missing', restarted: false });
    renameSync(`${file}.away`, file);
    appendFileSync(file, 'two\n');
    expect(follower.poll()).toMatchObject({ failure: null, restarted: false, lines: [{ text: 'two', offset: 4 }] });
  });

  it('starts again when it was removed and made anew, though inode, length and last bytes are as before', () => {
    let bornMs = 1;
    const born = <T extends { info: FileInfo }>(read: T) => ({ ...read, info: { ...read.info, inode: '7', bornMs } });
    const again: Files = {
      ...files,
      info: (place) => {
        const info = files.info(place);
        return info === null ? null : { ...info, inode: '7', bornMs, mtimeMs: 1 };
      },
      readAt: (...args) => {
        const read = files.readAt(...args);
        return read.ok ? born(read) : read;
      },
    };
    const end = `${'x'.repeat(100)}\n`;
    writeFileSync(file, `one\n${end}`);
    const follower = new LineFollower(again, file);
    follower.poll();
    rmSync(file);
    expect(follower.poll().failure).toBe('missing');
    bornMs = 2;
    writeFileSync(file, `two\n${end}`);
    const batch = follower.poll();
    expect(batch.restarted).toBe(true);
    expect(batch.lines[0]?.text).toBe('two');
  });

  it('is not begun anew by what cannot be read', () => {
    writeFileSync(file, 'one\n');
    const follower = new LineFollower(files, file);
    follower.poll();
    renameSync(file, `${file}.away`);
    symlinkSync(`${file}.away`, file);
    expect(follower.poll()).toMatchObject({ failure: 'not-regular', restarted: false });
    rmSync(file);
    renameSync(`${file}.away`, file);
    expect(texts(follower)).toEqual([]);
  });

  it('passes over a line beyond the limit and goes on with the next', () => {
    const limits = { ...followLimits, lineBytesMax: 100, pollBytesMax: 64 };
    writeFileSync(file, `${'x'.repeat(1000)}\nafter\n`);
    const follower = new LineFollower(files, file, limits);
    const seen: string[] = [];
    let oversized = 0;
    for (let more = true; more; ) {
      const batch = follower.poll();
      seen.push(...batch.lines.map((line) => line.text));
      oversized += batch.oversized;
      more = batch.more;
    }
    expect(seen).toEqual(['after']);
    expect(oversized).toBe(1);
  });

  it('reads only the end of a file longer than the history limit', () => {
    writeFileSync(file, 'first\nsecond\nthird\n');
    const follower = new LineFollower(files, file, { ...followLimits, historyBytesMax: 9 });
    expect(texts(follower)).toEqual(['third']);
  });
});

describe('what is not a file of ours is not read', () => {
  it('a missing file, a link and a folder each have their reason', () => {
    expect(new LineFollower(files, file).poll().failure).toBe('missing');
    writeFileSync(path.join(folder, 'target'), 'secret\n');
    symlinkSync(path.join(folder, 'target'), file);
    expect(new LineFollower(files, file).poll().failure).toBe('not-regular');
    expect(new LineFollower(files, folder).poll().failure).toBe('not-regular');
  });

  it("another user's file is left alone", () => {
    writeFileSync(file, 'theirs\n');
    expect(new LineFollower(ownFiles(uid + 1), file).poll().failure).toBe('foreign');
  });
});
