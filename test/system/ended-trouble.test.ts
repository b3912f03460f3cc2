// What is open about an agent is open wherever one asks, and the same, also when the agent itself is gone.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { openStandIn } from './stand-in.ts';
import { openWorld, type Said, type World, waitMs } from './world.ts';

interface Item {
  agent: string;
  status?: string;
  health?: string;
  kind?: string;
  severity?: string;
  findings?: (Trouble & { severity: string })[];
}

let world: World;

beforeAll(async () => {
  world = await openWorld();
  const folder = path.join(world.scenario.home, '.config/watchkeeper');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    path.join(folder, 'config.yaml'),
    JSON.stringify({ tickSeconds: 0.2, handoff: { deadlineMinutes: 0.02 } }),
  );
  // Nobody may prompt it about its work. A tmux server ends with its last pane.
  await openStandIn(world, 'parent');
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

interface Trouble {
  id: string;
  check?: string;
  kind?: string;
  since: string;
  told: number;
}

/** How each command has this trouble of this agent: its id, since when it is so, and how often people were told. */
async function readings(agent: string, check: string) {
  const mine = (troubles: readonly Trouble[] = []) =>
    troubles
      .filter((trouble) => (trouble.check ?? trouble.kind) === check)
      .map(({ id, since, told }) => ({ id, since, told }));
  const of = <T extends { agent: string | null }>(items: readonly T[] = []) =>
    items.filter((one) => one.agent === agent);
  return {
    status: mine(of((await world.ask({ ask: 'status' }))?.agents)[0]?.findings),
    health: mine(of((await world.ask({ ask: 'health', filter: 'unhealthy' }))?.items)[0]?.findings),
    'health of one': mine((await world.ask({ ask: 'agent-health', agent }))?.findings),
    check: mine(named(itemsOf(await world.run('check', '--json')), agent)[0]?.findings),
    inbox: mine(of((await world.ask({ ask: 'inbox' }))?.items)),
    why: mine((await world.ask({ ask: 'why', agent }))?.fired),
  };
}

async function expectSame(agent: string, check: string): Promise<void> {
  const told = async () => {
    const items = (await world.ask({ ask: 'inbox' }))?.items ?? [];
    return items.some((item) => item.agent === agent && item.kind === check && item.told === 1);
  };
  await until(`${check} of ${agent} is told`, told, waitMs);
  const { status, ...others } = await readings(agent, check);
  expect(status).toHaveLength(1);
  for (const [command, troubles] of Object.entries(others)) expect([command, troubles]).toEqual([command, status]);
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
  expect((await world.run('status')).stdout).toMatch(/^killed-ps +ended .*ended-unexpectedly/m);
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

it('one trouble has the same id, beginning and messages in status, health, check, inbox and why: of an agent that was killed, of background work, of a handoff', async () => {
  const [gone, dialog] = [await openStandIn(world, 'gone-ps'), await openStandIn(world, 'dialog-ps')];
  for (const name of ['gone-ps', 'dialog-ps', 'parent']) await world.agentIs(name, 'idle');
  process.kill(gone.pid, 'SIGKILL');
  await world.run('spawn-track', 'add', '--project', 'work', '--task-id', 't1', '--agent', 'parent');
  await world.run('spawn-track', 'fail', 'work', 't1', '--reason', 'exit 3');
  dialog.register({ status: 'waiting', waitingFor: 'permission prompt' });
  await world.agentIs('dialog-ps', 'waiting/permission');
  await world.run('handoff', 'dialog-ps');

  await expectSame('gone-ps', 'ended-unexpectedly');
  await expectSame('parent', 'spawn-failed');
  await expectSame('dialog-ps', 'handoff-failed');

  await world.down();
  await world.up();
  await expectSame('gone-ps', 'ended-unexpectedly');
  await expectSame('parent', 'spawn-failed');
  await expectSame('dialog-ps', 'handoff-failed');
});
