// A client that Watchkeeper has never heard of, added by one folder and one line: a plain `> ` box, a record of its own
// kind, no registry, no hooks, no way to put a draft aside.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Parrot, watchkeeperWithParrots } from '../stand-in-client/parrots.ts';
import { openWorld, type World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
  world.scenario.program = watchkeeperWithParrots(path.join(world.dir, 'copy'));
  const folder = path.join(world.scenario.home, '.config/watchkeeper');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'config.yaml'), 'tickSeconds: 0.5\nprompt: { humanQuietSeconds: 0.5 }\n');
  await world.up();
});
afterAll(() => world.end());

async function prompted(agent: string, text: string) {
  const said = await world.run('prompt', agent, text, '--json');
  return JSON.parse(said.stdout) as { outcome: string; reason: string | null; proof: string | null; tag: string };
}

describe('a client added by one folder and one line', () => {
  let parrot: Parrot;
  beforeAll(async () => {
    parrot = await Parrot.open(world, 'polly-ps');
  });

  it('is recognised', async () => {
    const seen = await world.agentIs('polly-ps', 'idle');
    expect(seen).toMatchObject({ client: 'parrot', cwd: parrot.cwd, session_id: [...parrot.talks().keys()][0] });
    const health = Object.fromEntries(seen.sources.map(({ source, health }) => [source, health]));
    expect(health).toMatchObject({ registry: 'absent', hook: 'absent', statusline: 'absent', transcript: 'ok' });
  });

  it('is prompted, with proof from its own record', async () => {
    const said = await prompted('polly-ps', 'Say hello.');
    expect(said).toMatchObject({ outcome: 'confirmed', proof: 'transcript' });
    expect(parrot.submitted()).toEqual([`Say hello. [${said.tag}]`]);
  });
});
