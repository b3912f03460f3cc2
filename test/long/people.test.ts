// A person who begins to type at any moment of a delivery: nothing is ever submitted that both have written.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { attached, grouped, nested } from '../system/people.ts';
import { TypedClient } from '../system/typed-client.ts';
import { openWorld, type World } from '../system/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
  const folder = path.join(world.scenario.home, '.config/watchkeeper');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'config.yaml'), 'tickSeconds: 0.5\nprompt:\n  humanQuietSeconds: 1\n');
  await world.up();
});
afterAll(() => world.end());

const rounds = 20;

it.each([
  ['attached', attached],
  ['in a grouped session', grouped],
  ['in a tmux within a tmux', nested],
])(
  '%s',
  async (what, open) => {
    const session = `${what.replaceAll(' ', '-')}-ps`;
    const client = await TypedClient.open(world, session);
    await world.seen(session, (agent) => agent.state === 'idle' && agent.tmux !== null);
    const person = await open(world, session);
    const outcomes: Record<string, number> = {};
    for (let round = 0; round < rounds; round += 1) {
      // Quiet for long enough, whatever second it was.
      await sleep(2_100);
      const said = world.say(session, `ours ${round}`);
      await sleep(Math.random() * 400);
      for (const letter of 'theirs') {
        await person.type(letter);
        await sleep(15);
      }
      const { outcome, reason, tag } = await said;
      outcomes[reason ?? outcome] = (outcomes[reason ?? outcome] ?? 0) + 1;
      const before = client.submitted().length;
      await person.type('\r');
      await until('theirs submitted', () => client.submitted().length > before);
      const ours = client.submitted().filter((text) => text.includes(tag));
      // What was left in the box goes with theirs, by their own hand; what we submitted is ours alone.
      expect(ours, `round ${round}`).toHaveLength(outcome === 'refused' ? 0 : 1);
      if (outcome === 'confirmed') expect(ours).toEqual([`ours ${round} [${tag}]`]);
    }
    console.log(`${what}: ${JSON.stringify(outcomes)}`);
    expect(outcomes.confirmed ?? 0).toBeGreaterThan(0);
  },
  300_000,
);
