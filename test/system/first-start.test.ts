// How a start is announced and how long it is quiet, in the words of the program.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { LookingOn } from '../clients/looking-on.ts';
import { openStandIn } from './stand-in.ts';
import { testWorld, type World } from './world.ts';

/** A start of its own length, or the harness makes it short. */
function configure(world: World, settings: object): void {
  const file = path.join(world.dir, 'config.yaml');
  writeFileSync(file, JSON.stringify({ tickSeconds: 0.3, ...settings }));
  world.env = { WATCHKEEPER_CONFIG: file };
}

/** In seconds, from now; null: it is over. */
async function quietFor(world: World): Promise<number | null> {
  const { daemon } = await world.status();
  return daemon.quiet_until === null ? null : (Date.parse(daemon.quiet_until) - Date.now()) / 1_000;
}

test('the first start is quiet for as long as is said of it, a later one for its own time; a change counts at the next', async () => {
  const world = await testWorld();
  expect((await world.run()).stdout).toContain('watchkeeper up --watch-only');
  configure(world, { start: { firstQuietSeconds: 600, quietSeconds: 300 } });
  await world.up();
  const first = (await quietFor(world)) ?? 0;
  expect(first).toBeGreaterThan(500);
  expect(first).toBeLessThanOrEqual(600);
  expect((await world.run('status')).stdout).toMatch(/no rule acts before \d\d/);
  configure(world, { tickSeconds: 0.2, start: { firstQuietSeconds: 0, quietSeconds: 1 } });
  await until('it is read', async () => (await world.status()).daemon.tick_ms === 200);
  expect(await quietFor(world)).toBeGreaterThan(400);
  // Alone the program shows the status.
  const [alone, status] = await Promise.all([world.run(), world.run('status')]);
  const steady = (text: string) => text.replaceAll(/\d+/g, 'N');
  expect(steady(alone.stdout)).toBe(steady(status.stdout));
  await world.down();
  configure(world, { start: { firstQuietSeconds: 600, quietSeconds: 300 } });
  await world.up();
  expect(await quietFor(world)).toBeLessThanOrEqual(300);
  await world.down();
});

test('the first round without a daemon only looks, and says so; the next one acts as it was told to', async () => {
  const world = await testWorld();
  configure(world, { start: { firstQuietSeconds: 600, quietSeconds: 300 } });
  expect((await world.run('check')).stderr).toContain('nothing was done');
  expect((await world.run('check')).stderr).not.toContain('nothing was done');
});

test('without an agent it says so and what it looks for, goes on looking, and tells of one that comes', async () => {
  const world = await testWorld();
  configure(world, { start: { firstQuietSeconds: 0, quietSeconds: 0 } });
  const up = new LookingOn(world.scenario, [], world.env);
  try {
    await up.line(/no agent yet; it looks for Claude Code every 0\.3 s/);
    await up.line(/in tmux: no server of yours runs in/);
    await up.watches();
    await openStandIn(world, 'worker-ps');
    await up.line(/worker-ps +found, .*may be prompted and handed over/);
    const all = up.lines.map(({ text }) => text);
    expect(all.filter((line) => line.length > 80)).toEqual([]);
  } finally {
    expect(await up.stop()).toBe(0);
  }
});

test('--watch-only is said at the start and in the status, also in the background', async () => {
  const world = await testWorld();
  configure(world, { mode: 'act' });
  await world.up('--watch-only');
  expect((await world.status()).daemon).toMatchObject({ mode: 'watch', watch_only: true, quiet_until: null });
  expect((await world.run('status')).stdout).toContain('only watching');
  await world.down();
});

test('help explains a topic or a command, and names the topics where a word is neither', async () => {
  const world = await testWorld();
  expect((await world.run('help', 'exit-codes')).stdout).toContain('no daemon runs');
  expect((await world.run('help', 'spawn-track', 'add')).stdout).toContain('Usage: watchkeeper spawn-track add');
  const neither = await world.run('help', 'nonsense');
  expect([neither.code, neither.stderr]).toEqual([2, expect.stringContaining('topics: start, states')]);
});
