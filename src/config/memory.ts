import { rmSync } from 'node:fs';
import { writeByRename } from '../act/install/own-file.ts';
import { readOwnText } from '../act/own-text.ts';
import type { Home } from '../home/home.ts';
import { inForce, type LoadedConfig, type OneFile } from './load.ts';
import { readConfigText } from './read.ts';

/** Which files the last run had, each with something in it. */
interface Memory {
  machine: string | null;
  project: string | null;
}

/**
 * What a start makes of its files. One that the last run had and this one does not find, or finds empty, is no wish for
 * defaults: it may be a home directory that is not mounted, a variable that cron does not have, a checkout of another
 * branch. Without the machine's file nothing is done; without a project's nothing to its agents.
 */
export function withMemory(home: Home, loaded: LoadedConfig, userHome: string): LoadedConfig {
  const memory = recall(home);
  const { machine, project } = loaded.read;
  const missed = {
    machine: { ...machine, missed: machine.says ? null : memory.machine },
    project: project === null ? null : { ...project, missed: missedProject(project, memory) },
  };
  remember(home, loaded);
  return inForce(missed, userHome);
}

/** One that is gone stays in mind until it is forgotten on purpose. */
export function remember(home: Home, { read: { machine, project } }: LoadedConfig): void {
  const before = recall(home);
  const seen = (file: OneFile | null, known: string | null) => (file?.says ? file.path : known);
  const now: Memory = {
    machine: seen(machine, before.machine),
    project: seen(project, before.project === project?.path ? before.project : null),
  };
  if (now.machine === before.machine && now.project === before.project) return;
  writeByRename(home.configFile, Buffer.from(`${JSON.stringify({ v: 1, ...now })}\n`), 0o600);
}

function missedProject(project: OneFile, memory: Memory): string | null {
  return !project.says && memory.project === project.path ? project.path : null;
}

/** Without a daemon: what the next start would miss. */
export function goneFiles(home: Home): string[] {
  const { machine, project } = recall(home);
  return [machine, project].filter((file) => file !== null && isGone(file)) as string[];
}

function isGone(file: string): boolean {
  const read = readConfigText(file);
  return read.kind === 'missing' || (read.kind === 'text' && read.text.trim() === '');
}

/** The next start takes the files as it finds them. Says which ones had been in mind. */
export function forget(home: Home): string[] {
  const { machine, project } = recall(home);
  rmSync(home.configFile, { force: true });
  return [machine, project].filter((file) => file !== null);
}

function recall(home: Home): Memory {
  try {
    const { machine, project } = JSON.parse(readOwnText(home.configFile)) as Record<keyof Memory, unknown>;
    return { machine: pathOf(machine), project: pathOf(project) };
  } catch {
    return { machine: null, project: null };
  }
}

function pathOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
