// The configuration is read again while running: a bad file keeps the last good one and says so.
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { openStandIn } from './stand-in.ts';
import { openWorld, type World } from './world.ts';

let world: World;
let file: string;
let pid = 0;

beforeAll(async () => {
  world = await openWorld();
  file = path.join(world.dir, 'config.yaml');
  world.env = { WATCHKEEPER_CONFIG: file };
  writeFileSync(file, 'mode: watch\ntickSeconds: 0.2\n');
  await openStandIn(world, 'worker');
  await world.up();
  pid = world.daemonPid();
  await world.agentIs('worker', (agent) => agent.authority === 'observe');
});
afterAll(() => world.end());

async function daemonSays(wanted: { mode?: string; tick_ms?: number }): Promise<void> {
  const look = async () => (await world.status()).daemon;
  await until(`the daemon has ${JSON.stringify(wanted)}`, async () => {
    const daemon = await look();
    return Object.entries(wanted).every(([key, value]) => daemon[key as keyof typeof daemon] === value);
  });
}

it('a bad file keeps the last good one and says where and why', async () => {
  writeFileSync(file, 'mode: wach\ntickSeconds: 0.1\n');
  await until('the log says so', () => world.log().includes('the configuration stays as it was'));
  const line = world.log().trim().split('\n').at(-1) ?? '';
  expect(JSON.parse(line)).toMatchObject({ level: 'warn', message: expect.stringContaining(`${file}:1`) });
  expect(line).toMatch(/act.*watch|watch.*act/);
  await daemonSays({ mode: 'watch', tick_ms: 200 });
  expect((await world.doctor()).checks.get('config')).toMatchObject({ ok: false });
  // Said once, not at every tick.
  await world.agentIs('worker', 'idle');
  expect(world.log().split('the configuration stays as it was')).toHaveLength(2);
});

it.each([
  ['no YAML', 'mode: [unclosed\n'],
  ['binary', Buffer.from([0, 1, 2, 255, 27, 91])],
  ['a value out of range', 'tickSeconds: -1\n'],
])('also when it is %s', async (_what, content) => {
  const before = world.log().length;
  writeFileSync(file, content);
  await until('the log says so', () => world.log().slice(before).includes('the configuration stays as it was'));
  await daemonSays({ mode: 'watch', tick_ms: 200 });
});

it('a mended one works at once, without a restart', async () => {
  writeFileSync(file, 'mode: act\ntickSeconds: 0.3\nagents: [{match: "work*", authority: nudge}]\n');
  await daemonSays({ mode: 'act', tick_ms: 300 });
  await world.agentIs('worker', (agent) => agent.authority === 'nudge');
  expect(world.log()).toMatch(/the configuration was read anew/);
  expect(world.daemonPid()).toBe(pid);
});

it('a file that is removed although it was named keeps the last good one', async () => {
  const before = world.log().length;
  rmSync(file);
  await until('the log says so', () => world.log().slice(before).includes('no such file'));
  await daemonSays({ mode: 'act', tick_ms: 300 });
  expect(world.daemonPid()).toBe(pid);
});
