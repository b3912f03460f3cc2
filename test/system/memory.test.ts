// Memory stays bounded, whatever the files of an agent are: endless lines, long histories, a thousand registry files.
import { appendFileSync, closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStandIn, prompt, reply, type StandIn, turnEnd } from './stand-in.ts';
import { openWorld, type World } from './world.ts';

const limitMb = 250;
let world: World;

beforeAll(async () => {
  world = await openWorld();
  const registry = path.join(world.scenario.home, '.claude/sessions');
  mkdirSync(registry, { recursive: true });
  for (let count = 0; count < 1_000; count += 1) {
    writeFileSync(path.join(registry, `${5_000_000 + count}.json`), Buffer.alloc(200 * 1024, ' '));
  }
  await world.tmux.run('new-session', '-d', '-s', 'keeper', '--', 'sleep', 'infinity');
  await world.up();
});
afterAll(() => world.end());

function staysBounded(what: string, mb = limitMb): void {
  const { now, peak } = world.memory();
  console.log(`${what}: ${now} MB, at most ${peak} MB`);
  expect(peak).toBeLessThan(mb);
}

/** Appended in pieces, as a client would, so that the test itself stays small. */
function appendMegabytes(agent: StandIn, megabytes: number, piece: string): void {
  const fd = openSync(agent.transcriptFile, 'a');
  const chunk = Buffer.from(piece.repeat(Math.ceil((1024 * 1024) / piece.length)));
  for (let count = 0; count < megabytes; count += 1) writeSync(fd, chunk);
  closeSync(fd);
}

describe('memory', () => {
  it('a line of 100 MB is passed over and counted, and what follows it is read', async () => {
    const agent = await openStandIn(world, 'endless');
    agent.turn(1_000);
    await world.agentIs('endless', (seen) => seen.context?.used === 1_000);
    const before = await world.counter('transcript.oversized');
    appendFileSync(agent.transcriptFile, '{"type":"user","message":{"content":"');
    appendMegabytes(agent, 100, 'x');
    appendFileSync(agent.transcriptFile, '"}}\n');
    agent.turn(2_000);
    await world.agentIs('endless', (seen) => seen.context?.used === 2_000, 20_000);
    expect(await world.counter('transcript.oversized')).toBe(before + 1);
    staysBounded('a line of 100 MB');
  });

  it('a line that never ends is not held', async () => {
    const agent = await openStandIn(world, 'unending');
    agent.turn(1_000);
    await world.agentIs('unending', (seen) => seen.context?.used === 1_000);
    const before = await world.counter('transcript.oversized');
    appendMegabytes(agent, 100, '[');
    await world.counterGrows('transcript.oversized', before);
    agent.register({ status: 'busy' });
    await world.agentIs('unending', 'working/thinking');
    staysBounded('100 MB without a line end');
  });

  it('a transcript of 60 MB with big records is read to its end', async () => {
    const agent = await openStandIn(world, 'long', { unregistered: true });
    agent.write(prompt());
    const big = { ...reply({ used: 5_000 }), padding: 'y'.repeat(100_000) };
    for (let count = 0; count < 600; count += 1) agent.write(big);
    agent.write(reply({ used: 6_000 }), turnEnd());
    agent.register({});
    const seen = await world.agentIs('long', (view) => view.context?.used === 6_000, 20_000);
    expect(seen).toMatchObject({ state: 'idle', last_turn: 'ok' });
    staysBounded('a transcript of 60 MB');
  });

  it('a backlog of 120,000 small records becomes as many rows', async () => {
    const agent = await openStandIn(world, 'many', { unregistered: true });
    mkdirSync(path.dirname(agent.transcriptFile), { recursive: true });
    const fd = openSync(agent.transcriptFile, 'a');
    for (let count = 0; count < 120; count += 1) {
      const lines = Array.from({ length: 1_000 }, () => JSON.stringify(prompt('x')));
      writeSync(fd, `${lines.join('\n')}\n`);
    }
    closeSync(fd);
    agent.write(reply({ used: 7_000 }), turnEnd());
    agent.register({});
    await world.agentIs('many', (view) => view.context?.used === 7_000, 60_000);
    const rows = async () => {
      const [row] = await world.query<{ n: number }>('SELECT count(*)::int AS n FROM events WHERE session_id = $1', [
        agent.sessionId,
      ]);
      return row?.n ?? 0;
    };
    await expect.poll(rows, { timeout: 60_000, interval: 500 }).toBeGreaterThanOrEqual(120_002);
    expect(await world.counter('store.dropped-events')).toBe(0);
    staysBounded('a backlog of 120,000 records', 320);
  });
});
