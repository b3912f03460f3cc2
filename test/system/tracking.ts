import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { type Said, type World, waitMs } from './world.ts';

export interface Item {
  task_id: string;
  status: string;
  reason: string | null;
  output_file: string | null;
  last_output_change: string | null;
  agent: string | null;
  source: string;
}

export interface InboxItem {
  agent: string | null;
  kind: string;
  subject: string | null;
  text: string;
}

export const stallMs = 3_000;

/** Minutes shortened to seconds. */
export function configure(world: World): void {
  const file = path.join(world.dir, 'config.yaml');
  writeFileSync(
    file,
    JSON.stringify({
      tickSeconds: 0.5,
      healthIntervalMinutes: 0.05,
      prompt: { minIntervalMinutes: 0.01, humanQuietSeconds: 0.5 },
      spawn: { stallMinutes: stallMs / 60_000, abandonMinutes: 60 },
    }),
  );
  world.env = { ...world.env, WATCHKEEPER_CONFIG: file };
}

export function add(world: World, taskId: string, output: string | null, ...more: string[]): Promise<Said> {
  const file = output === null ? [] : ['--output', output];
  return world.run('spawn-track', 'add', '--project', 'shop', '--task-id', taskId, ...file, ...more);
}

export async function list(world: World, ...more: string[]): Promise<Item[]> {
  const said = await world.run('spawn-track', 'list', '--json', ...more);
  expect(said.code, said.stderr).toBe(0);
  return (JSON.parse(said.stdout) as { items: Item[] }).items;
}

export async function item(world: World, taskId: string): Promise<Item | null> {
  return (await list(world, '--all')).find((each) => each.task_id === taskId) ?? null;
}

export async function becomes(world: World, taskId: string, fits: (item: Item) => boolean, ms = waitMs): Promise<Item> {
  return until(
    `${taskId} as wanted`,
    async () => {
      const seen = await item(world, taskId);
      return seen !== null && fits(seen) ? seen : null;
    },
    ms,
  ).catch(async (error: Error) => {
    throw new Error(`${error.message}; ${JSON.stringify(await item(world, taskId))}`);
  });
}

export async function inbox(world: World): Promise<InboxItem[]> {
  return (JSON.parse((await world.run('inbox', '--json')).stdout) as { items: InboxItem[] }).items;
}
