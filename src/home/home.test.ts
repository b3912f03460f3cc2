import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ownProcess } from '../record/own-process.ts';
import { findHome, type Home, isPaused, pause, runningDaemon, unpause, writeDaemonRecord } from './home.ts';

let dir: string;
let home: Home;

beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'wk-home-'));
  home = findHome({ WATCHKEEPER_HOME: dir });
});
afterEach(() => {
  for (const each of [dir, `${dir}-away`]) rmSync(each, { recursive: true, force: true });
});

describe('a pause', () => {
  it('holds until it is taken back', () => {
    expect(isPaused(home)).toBe(false);
    expect(pause(home, 'human me', 'lunch').ok).toBe(true);
    expect(isPaused(home)).toBe(true);
    unpause(home);
    expect(isPaused(home)).toBe(false);
  });

  it('is not over because nobody can look whether it is', () => {
    renameSync(dir, `${dir}-away`);
    expect(isPaused(home)).toBe(true);
    writeFileSync(dir, '');
    expect(isPaused(home)).toBe(true);
  });
});

it('the record of a daemon in a copied directory is about another one: it is not asked, nor stopped', () => {
  const self = ownProcess();
  if (self === null) throw new Error('no /proc');
  const record = { ...self, startedAt: 'x', version: '1', sockets: { control: '/s' } };
  expect(writeDaemonRecord(home, record).ok).toBe(true);
  expect(runningDaemon(home)).toMatchObject({ pid: process.pid });
  renameSync(dir, `${dir}-away`);
  expect(runningDaemon(findHome({ WATCHKEEPER_HOME: `${dir}-away` }))).toBeNull();
});
