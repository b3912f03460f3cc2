// A person who renames a tmux session takes its agent for himself, and may give the old name to another one.
import { expect, it } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { TypedClient } from './typed-client.ts';
import { testWorld } from './world.ts';

it('a prompt by its old name is refused, and not typed into whoever had that name before', async () => {
  const world = await testWorld();
  const authority = async (name: string) => (await world.agent(name))?.authority;
  await world.up();
  const first = await TypedClient.open(world, 'shop-ps');
  await world.agentIs('shop-ps', 'idle');
  await world.tmux.run('rename-session', '-t', '=shop-ps', 'mine');
  await until('it is only observed', async () => (await authority('shop-ps')) === 'observe', 15_000);
  expect(await world.say('shop-ps', 'One.')).toMatchObject({ outcome: 'refused', reason: 'authority' });

  await world.tmux.run('rename-session', '-t', '=mine', 'store-ps');
  await until('it is looked after again', async () => (await authority('shop-ps')) === 'manage', 15_000);
  const second = await TypedClient.open(world, 'new');
  await world.agentIs('new', 'idle');
  await world.tmux.run('rename-session', '-t', '=new', 'shop-ps');
  await until('its name is another one’s', async () => (await authority('shop-ps')) === 'observe', 15_000);
  expect(await world.say('shop-ps', 'Two.')).toMatchObject({ outcome: 'refused', reason: 'authority' });
  expect([first.submitted(), second.submitted()]).toEqual([[], []]);
});
