import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { good, home, machineFile, projectDir, projectFile, root } from '../../test/runs/config-files.ts';
import { findHome } from '../home/home.ts';
import { configAt } from './load.ts';
import { forget, goneFiles, withMemory } from './memory.ts';

/** What a start has in force, and what it misses. */
function start(named: string | null = null) {
  const data = findHome({ WATCHKEEPER_HOME: path.join(root, 'data') });
  mkdirSync(data.dir, { recursive: true });
  const loaded = withMemory(data, good(named), home);
  const { machine, project } = loaded.read;
  return {
    mode: loaded.config.mode,
    rules: configAt(loaded, [projectDir]).projectAgents,
    missed: [machine.missed, project?.missed ?? null],
    data,
  };
}

const nothing = { mode: 'act', rules: null, missed: [null, null] };

it('a first start without files takes the defaults, and an empty file for none', () => {
  expect(start()).toMatchObject(nothing);
  writeFileSync(machineFile, '');
  expect(start()).toMatchObject(nothing);
});

it.each([
  ['is gone', () => rmSync(machineFile)],
  ['is empty', () => truncateSync(machineFile)],
])('a start whose file %s watches, also the next one, until it is back', (_what, lose) => {
  writeFileSync(machineFile, 'mode: act\n');
  expect(start()).toMatchObject(nothing);
  lose();
  for (let nth = 0; nth < 2; nth += 1) expect(start()).toMatchObject({ mode: 'watch', missed: [machineFile, null] });
  expect(goneFiles(start().data)).toEqual([machineFile]);
  writeFileSync(machineFile, 'mode: act\n');
  expect(start()).toMatchObject(nothing);
});

it('a start without the variable that named the file watches', () => {
  const named = path.join(root, 'named.yaml');
  writeFileSync(named, 'tickSeconds: 1\n');
  expect(start(named)).toMatchObject(nothing);
  expect(start()).toMatchObject({ mode: 'watch', missed: [named, null] });
  // Another file is a word of its own.
  writeFileSync(machineFile, 'mode: act\n');
  expect(start()).toMatchObject(nothing);
});

it("a project's file that is gone leaves its agents observed, and the others as they are", () => {
  writeFileSync(projectFile, 'handoff: {atPercent: 90}\n');
  start();
  rmSync(projectFile);
  const observed = [{ match: '*', authority: 'observe' }];
  expect(start()).toMatchObject({ mode: 'act', rules: observed, missed: [null, projectFile] });
});

it('what is gone on purpose is forgotten', () => {
  writeFileSync(machineFile, 'mode: act\n');
  writeFileSync(projectFile, 'agents: []\n');
  const { data } = start();
  rmSync(machineFile);
  rmSync(projectFile);
  expect(forget(data)).toEqual([machineFile, projectFile]);
  expect(start()).toMatchObject(nothing);
  expect(forget(data)).toEqual([]);
});

it('a memory that is none of ours is none', () => {
  const { data } = start();
  for (const text of ['', 'null', '[]', '{"machine":7}', '{"machine":""}']) {
    writeFileSync(data.configFile, text);
    expect(start()).toMatchObject(nothing);
  }
});
