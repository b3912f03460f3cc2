// What is open about an agent is open wherever one asks, also when the agent itself is gone.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { openStandIn } from './stand-in.ts';
import { openWorld, type Said, type World } from './world.ts';

interface Item {
  agent: string;
  status?: string;
  health?: string;
  kind?: string;
  severity?: string;
  findings?: { check: string; severity: string }[];
}

let world: World;

beforeAll(async () => {
  world = await openWorld();
  const folder = path.join(world.scenario.home, '.config/watchkeeper');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'config.yaml'), 'tickSeconds: 0.2\n');
  await world.up();
});
afterAll(() => world.end());

const itemsOf = (said: Said) => (JSON.parse(said.stdout) as { items: Item[] }).items;
const named = (items: Item[], agent: string) => items.filter((item) => item.agent === agent);

/** What each command says of one agent, as one word. */
async function words(agent: string) {
  const [status, health, inbox, check] = [
    (await world.status()).agents as Item[],
    itemsOf(await world.run('health', '--json')),
    itemsOf(await world.run('inbox', '--json')),
    itemsOf(await world.run('check', '--json')),
  ];
  return {
    status: named(status, agent).map((item) => item.health),
    health: named(health, agent).map((item) => item.status),
    inbox: named(inbox, agent).map((item) => [item.kind, item.severity]),
    check: named(check, agent).map((item) => item.status),
  };
}

const critical = {
  status: ['critical'],
  health: ['critical'],
  inbox: [['ended-unexpectedly', 'critical']],
  check: ['critical'],
};

it('a killed agent is critical in status, health, inbox and check alike, also after a restart of the daemon', async () => {
  const [killed, well] = [await openStandIn(world, 'killed-ps'), await openStandIn(world, 'well-ps')];
  await world.agentIs('killed-ps', 'idle');
  await world.agentIs('well-ps', 'idle');
  expect((await world.run('health', '--filter', 'unhealthy')).code).toBe(0);
  process.kill(killed.pid, 'SIGKILL');
  await world.agentIs('killed-ps', 'ended');
  await until('in the inbox', async () => named(itemsOf(await world.run('inbox', '--json')), 'killed-ps').length > 0);
  const unhealthy = async () => {
    const said = await world.run('health', '--filter', 'unhealthy', '--json');
    return [said.code, itemsOf(said).map(({ agent, status }) => `${agent} ${status}`)];
  };
  expect(await words('killed-ps')).toEqual(critical);
  expect(await unhealthy()).toEqual([1, ['killed-ps critical']]);
  expect((await world.run('status')).stdout).toContain('killed-ps: critical, ended-unexpectedly');
  expect((await world.run('check')).code).toBe(1);

  await world.down();
  await world.up();
  await world.agentIs('well-ps', 'idle');
  expect(await words('killed-ps')).toEqual(critical);
  expect(await unhealthy()).toEqual([1, ['killed-ps critical']]);

  // One that was closed at its prompt is nobody's concern.
  rmSync(well.registryFile);
  process.kill(well.pid, 'SIGKILL');
  await world.agentIs('well-ps', 'ended');
  expect(await words('well-ps')).toEqual({ status: ['healthy'], health: [], inbox: [], check: [] });
});
