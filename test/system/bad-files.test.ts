// Bad input changes a counter, not a decision: the files of an agent that are unreadable, missing, huge, binary, cut,
// foreign or not files at all.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../clients/until.ts';
import { openStandIn, prompt, reply, type StandIn, turnEnd } from './stand-in.ts';
import { openWorld, type World } from './world.ts';

const root = process.getuid?.() === 0;
const stranger = 54_321;
let world: World;
let next = 0;

beforeAll(async () => {
  world = await openWorld();
  // A server without a session ends, and its agents with it.
  await world.tmux.run('new-session', '-d', '-s', 'keeper', '--', 'sleep', 'infinity');
  await world.up();
});
afterAll(() => world.end());

/** Seen idle after one good turn, with 1,000 tokens in use. */
async function seenAgent(): Promise<{ name: string; agent: StandIn }> {
  const { name, agent } = await newAgent();
  agent.turn();
  await world.agentIs(name, (seen) => seen.state === 'idle' && seen.context?.used === 1_000);
  return { name, agent };
}

async function newAgent(options: Parameters<typeof openStandIn>[2] = {}): Promise<{ name: string; agent: StandIn }> {
  next += 1;
  const name = `agent${next}`;
  return { name, agent: await openStandIn(world, name, options) };
}

/** The daemon has not ended, been restarted or failed in a pass. */
async function daemonIsWell(): Promise<void> {
  expect(world.log()).not.toMatch(/a pass failed/);
  expect((await world.doctor()).checks.get('daemon')?.ok).toBe(true);
}

const notAFile: [string, string, (file: string, folder: string) => void][] = [
  ['a folder', 'not-regular', (file) => mkdirSync(file)],
  ['a FIFO', 'not-regular', (file) => execFileSync('mkfifo', [file])],
  [
    'a link to a good file',
    'not-regular',
    (file, folder) => {
      renameSync(file.replace(/$/, '.kept'), path.join(folder, 'good'));
      symlinkSync(path.join(folder, 'good'), file);
    },
  ],
];

describe('a transcript that cannot be read', () => {
  it.each(notAFile)('%s where it should be: counted, the registry still tells, and it is read when it is back', async (what, reason, put) => {
    const { name, agent } = await seenAgent();
    const kept = `${agent.transcriptFile}.kept`;
    renameSync(agent.transcriptFile, kept);
    const text = readFileSync(kept);
    put(agent.transcriptFile, world.dir);
    await world.counted(`transcript.${reason}`);
    agent.register({ status: 'busy' });
    const busy = await world.agentIs(name, 'working/thinking');
    expect(busy.context?.used, what).toBe(1_000);

    rmSync(agent.transcriptFile, { recursive: true });
    writeFileSync(agent.transcriptFile, text);
    agent.register({ status: 'idle' });
    agent.turn(2_000);
    await world.agentIs(name, (seen) => seen.state === 'idle' && seen.context?.used === 2_000);
    await daemonIsWell();
  });
});
