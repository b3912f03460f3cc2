import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/problem.ts';

export let root = '';
export let home = '';
export let projectDir = '';
export let machineFile = '';
export let projectFile = '';

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'wk-config-'));
  home = path.join(root, 'home');
  projectDir = path.join(root, 'project');
  machineFile = path.join(home, '.config/watchkeeper/config.yaml');
  projectFile = path.join(projectDir, 'watchkeeper.yaml');
  mkdirSync(path.dirname(machineFile), { recursive: true });
  mkdirSync(projectDir);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

export const load = (file: string | null = null) => loadConfig({ file, home, projectDir });

export function good(file: string | null = null) {
  const loaded = load(file);
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'));
  return loaded.value;
}

/** The problems as lines, with the directory taken out. */
export function bad(file: string | null = null): string[] {
  const loaded = load(file);
  if (loaded.ok) throw new Error('expected problems');
  return loaded.problems.map((problem) => formatProblem(problem).replaceAll(`${root}/`, ''));
}

export const machineBad = (yaml: string | Buffer) => {
  writeFileSync(machineFile, yaml);
  return bad().map((line) => line.replace('home/.config/watchkeeper/config.yaml', 'F'));
};
export const projectBad = (machine: string, project: string) => {
  writeFileSync(machineFile, machine);
  writeFileSync(projectFile, project);
  return bad().map((line) => line.replace('project/watchkeeper.yaml', 'P'));
};
