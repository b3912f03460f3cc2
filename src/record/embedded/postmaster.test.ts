// A signal reaches only a process of this cluster, and only the very one that was found: by boot, pid, start time, user and directory.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAlive, ownProcess, readProcess } from '../own-process.ts';
import type { EmbeddedPlace } from './place.ts';
import { clusterProcesses, findPostmaster, type ServerProcess, signal, stillRuns } from './postmaster.ts';

let dir: string;
let place: EmbeddedPlace;
let children: ChildProcess[];

beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'wk-postmaster-'));
  place = { cluster: path.join(dir, 'data') } as EmbeddedPlace;
  mkdirSync(place.cluster);
  copyFileSync('/bin/sleep', path.join(dir, 'postgres'));
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

/** Something that runs in this directory: by its program a database, unless told otherwise. */
function running(cwd: string, program = path.join(dir, 'postgres')): ServerProcess {
  const child = spawn(program, ['60'], { cwd, stdio: 'ignore' });
  children.push(child);
  const found = readProcess(child.pid ?? 0);
  if (found === null) throw new Error('it did not start');
  return { pid: found.pid, startTicks: found.startTicks };
}

/** As the server writes it when it starts. */
function recorded({ pid }: ServerProcess): void {
  writeFileSync(path.join(place.cluster, 'postmaster.pid'), `${pid}\n${place.cluster}\n`);
}

const otherTicks = ({ pid, startTicks }: ServerProcess) => ({ pid, startTicks: `${Number(startTicks) - 1}` });

describe('a signal', () => {
  it('ends the process that was found', async () => {
    const found = running(place.cluster);
    expect(signal(found, 'SIGKILL')).toBe(true);
    expect((await once(children[0] as ChildProcess, 'exit'))[1]).toBe('SIGKILL');
    expect(stillRuns(found)).toBe(false);
  });

  it('does not reach one that got its pid since', () => {
    const found = running(place.cluster);
    expect(signal(otherTicks(found), 'SIGKILL')).toBe(false);
    expect([stillRuns(found), stillRuns(otherTicks(found))]).toEqual([true, false]);
  });
});

describe('a process is of this cluster', () => {
  it('when it runs in its directory', () => {
    const found = running(place.cluster);
    recorded(found);
    expect(findPostmaster(place)).toEqual(found);
    expect(clusterProcesses(place)).toEqual([found]);
  });

  it('but not by its recorded pid alone', () => {
    const other = running(dir);
    recorded(other);
    expect(findPostmaster(place)).toBeNull();
    expect(clusterProcesses(place)).toEqual([]);
  });

  it('nor by its directory alone: a person’s own program may stand there', () => {
    const other = running(place.cluster, 'sleep');
    recorded(other);
    expect(findPostmaster(place)).toBeNull();
    expect(clusterProcesses(place)).toEqual([]);
  });

  it('nor when it runs in another cluster', () => {
    const beside = path.join(dir, 'data2');
    mkdirSync(beside);
    running(beside);
    expect(clusterProcesses(place)).toEqual([]);
  });

  it.runIf(process.getuid?.() === 0)("nor when it is not the user's whose directory it is", () => {
    const found = running(place.cluster);
    recorded(found);
    chownSync(place.cluster, 65_534, 65_534);
    expect(findPostmaster(place)).toBeNull();
    expect(clusterProcesses(place)).toEqual([]);
  });
});

it('a process of before the last boot does not live, whoever has its pid and start time', () => {
  const own = ownProcess();
  if (own === null) throw new Error('no /proc');
  expect(isAlive(own)).toBe(true);
  expect(isAlive({ ...own, bootId: 'before' })).toBe(false);
  expect(isAlive({ ...own, startTicks: '1' })).toBe(false);
});
