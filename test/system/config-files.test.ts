// Files of the configuration that go, and a project's file: what was said stays, and a start that misses it does nothing.
import { existsSync, mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { openStandIn } from './stand-in.ts';
import { openWorld, type World } from './world.ts';

let world: World;
let machine: string;
let project: string;

const said = 'mode: watch\ntickSeconds: 0.2\n';

beforeAll(async () => {
  world = await openWorld();
  const { home } = world.scenario;
  machine = path.join(home, '.config/watchkeeper/config.yaml');
  project = path.join(home, 'watchkeeper.yaml');
  mkdirSync(path.dirname(machine), { recursive: true });
  writeFileSync(machine, said);
  writeFileSync(project, 'agents: [{match: "*", authority: nudge}]\n');
  await openStandIn(world, 'in-ps', { cwd: path.join(home, 'app') });
  await openStandIn(world, 'out-ps');
  await world.up();
});
afterAll(() => world.end());

const daemon = async () => (await world.status()).daemon;

async function restart(): Promise<void> {
  const down = await world.run('down', '--keep-db');
  expect(down.code, down.stderr).toBe(0);
  await world.up();
}

const authorities = async (inside: string, outside: string) => {
  await world.agentIs('in-ps', (agent) => agent.authority === inside);
  await world.agentIs('out-ps', (agent) => agent.authority === outside);
};

it("a project's file concerns the agents in its directory only", async () => {
  await authorities('nudge', 'manage');
  expect((await world.run('config', 'show')).stdout).toContain(`for agents in ${world.scenario.home}:`);
});

it('a file that is gone or emptied does not turn watching into acting, and is told once', async () => {
  const gone = () => world.log().split('no such file any more').length - 1;
  rmSync(machine);
  await until('the log says so', () => gone() === 1);
  expect(await daemon()).toMatchObject({ mode: 'watch', tick_ms: 200, config_missing: [machine] });
  writeFileSync(machine, said);
  await until('it is back', async () => (await daemon()).config_missing.length === 0);
  truncateSync(machine);
  await until('the log says so', () => world.log().includes('is empty now'));
  rmSync(project);
  await until('that of the project too', () => gone() === 2);
  expect(await daemon()).toMatchObject({ mode: 'watch', config_missing: [machine, project] });
  await authorities('nudge', 'manage');
});

it('a start that misses the files of the last run watches, and says so everywhere', async () => {
  await restart();
  expect(await daemon()).toMatchObject({ mode: 'watch', config_missing: [machine, project] });
  await authorities('observe', 'manage');
  const status = (await world.run('status')).stdout;
  expect(status).toContain('watch mode');
  expect(status.replaceAll(/\s+/g, ' ')).toContain(`${machine} is missing`);
  expect(world.log()).toContain(`${machine} is missing, which the last run had`);
  expect((await world.doctor()).checks.get('config')).toMatchObject({ ok: false });
});

it('one that is put back counts again', async () => {
  writeFileSync(machine, 'mode: act\n');
  await until('it acts', async () => (await daemon()).mode === 'act');
  await authorities('observe', 'manage');
  expect((await daemon()).config_missing).toEqual([project]);
});

it("a project's file that is bad does not stop a start: it is left out, that is said, and its agents are only watched", async () => {
  writeFileSync(project, 'agents: [{match: "*", authority: nudge}]\nmode: wach\n');
  expect((await world.run('down', '--keep-db')).code).toBe(0);
  const up = await world.run('up', '--detach');
  expect(up.code, up.stderr).toBe(0);
  expect(up.stderr).toContain(`left out, and its agents only watched until it is right: ${project}:2:7: mode:`);
  await authorities('observe', 'manage');
  writeFileSync(project, 'agents: [{match: "*", authority: nudge}]\n');
  await authorities('nudge', 'manage');
  rmSync(project);
  await until('it is missed', async () => (await daemon()).config_missing.includes(project));
});

it('one that is gone on purpose is forgotten by a word', async () => {
  rmSync(machine);
  const forgotten = await world.run('config', 'forget');
  expect(forgotten.stdout).toContain(machine);
  await restart();
  expect(await daemon()).toMatchObject({ mode: 'act', tick_ms: 2_000, config_missing: [] });
  await authorities('manage', 'manage');
  expect((await world.doctor()).checks.get('config')).toMatchObject({ ok: true });
  expect([machine, project].filter(existsSync)).toEqual([]);
});
