// Secrets of every form, by every way in which text of others comes to us: none is stored, logged or told. And what is
// not known as one goes when somebody names it, for good.
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { leakIn, madeSecrets } from '../fixtures/secrets.ts';
import { apiError, openStandIn, prompt, startTicks, turnEnd } from './stand-in.ts';
import { openWorld, type World, waitMs } from './world.ts';

/** Told at once: nobody but a person can help. */
const notLetIn = { error: 'authentication_failed', apiErrorStatus: 401 };

/** With what people are told written to a file. */
function configure(world: World): string {
  const told = path.join(world.dir, 'told.jsonl');
  const tell = path.join(world.dir, 'tell');
  writeFileSync(tell, `#!/bin/sh\n{ cat; echo; } >> ${told}\n`);
  chmodSync(tell, 0o755);
  const config = path.join(world.dir, 'config.yaml');
  const notify = [{ channel: 'ops', type: 'command', command: [tell] }];
  writeFileSync(config, JSON.stringify({ tickSeconds: 0.5, waiting: { notifyMinutes: 0.01 }, notify }));
  world.env = { WATCHKEEPER_CONFIG: config };
  return told;
}

async function exported(world: World): Promise<string> {
  const said = await world.run('db', 'export');
  expect(said.code, said.stderr).toBe(0);
  return said.stdout;
}

describe('redaction', () => {
  let world: World;
  let told: string;
  beforeAll(async () => {
    world = await openWorld();
    told = configure(world);
    await world.up();
  });
  afterAll(() => world.end());

  it('of all that is known as a secret, before it is stored, logged or told', async () => {
    const all = madeSecrets().filter(({ canary }, index) => canary.length >= 10 && index % 4 === 0);
    expect(all.length).toBeGreaterThan(250);
    const agent = await openStandIn(world, 'leaky-ps');
    await world.agentIs('leaky-ps', 'idle');
    const hook = (fields: object, index: number) => {
      const body = { session_id: agent.sessionId, cwd: agent.cwd, ...fields };
      const file = path.join(world.dataDir, 'inbox', `${index}-${randomUUID().slice(0, 8)}`);
      writeFileSync(`${file}.new`, `wk1 hook ${agent.pid} ${startTicks(agent.pid)}\n${JSON.stringify(body)}`);
      renameSync(`${file}.new`, `${file}.hook`);
    };
    for (const [index, { text }] of all.entries()) {
      agent.write(prompt(text), apiError(`API Error: 400 ${text}`), turnEnd());
      if (index % 4 === 0)
        hook({ hook_event_name: 'StopFailure', error: 'server_error', last_assistant_message: text }, index);
    }
    for (const { text } of all.filter((_each, index) => index % 100 === 0)) {
      const id = `t-${randomUUID().slice(0, 8)}`;
      await world.run('spawn-track', 'add', '--project', 'leaky', '--task-id', id, '--description', text);
      await world.run('spawn-track', 'fail', 'leaky', id, '--reason', text);
      await world.run('prompt', 'leaky-ps', text.replaceAll(/[^ -~]/g, ' '), '--json');
    }
    const last = all.filter((_each, index) => index % 40 === 0).map(({ text }) => text);
    agent.write(prompt('last'), apiError(`API Error: 401 the very end ${last.join(' ')}`, notLetIn), turnEnd());
    await until('all is stored', async () => (await exported(world)).includes('the very end'), waitMs);
    await until('somebody was told', () => existsSync(told) && readFileSync(told, 'utf8').includes('leaky-ps'), waitMs);
    const found = new Map([
      ['db export', await exported(world)],
      ['daemon.log', world.log()],
      ['messages', readFileSync(told, 'utf8')],
      ['status', (await world.run('status', '--json')).stdout],
      ['why', (await world.run('why', 'leaky-ps', '--json')).stdout],
    ]);
    expect(found.get('db export')).toContain('[redacted]');
    for (const [where, text] of found) {
      const leaks = all.filter(({ canary }) => leakIn(text, canary, 8) !== null).map(({ name }) => name);
      expect(leaks, where).toEqual([]);
    }
  });

  it('of one that somebody names, with the daemon up and down, and it does not come back', async () => {
    const agent = await openStandIn(world, 'named-ps');
    await world.agentIs('named-ps', 'idle');
    const secret = 'correct horse "battery" staple';
    const redact = async (text: string, ...more: string[]) =>
      world.scenario.watchkeeper(['redact', ...more], { env: world.env, stdin: text });
    agent.write(prompt('go'), apiError(`API Error: 401 it is ${secret}, really`, notLetIn), turnEnd());
    await world.run('spawn-track', 'add', '--project', 'named', '--task-id', 't1', '--description', `with ${secret}`);
    await until('it is stored', async () => (await exported(world)).includes('correct horse'), waitMs);
    await until('somebody was told', () => existsSync(told) && readFileSync(told, 'utf8').includes('horse'), waitMs);

    const done = await redact(`${secret}\n`, '--json');
    expect(done.code, done.stderr).toBe(0);
    const { v, replaced } = done.json<{ v: number; replaced: Record<string, number> }>();
    expect([v, Object.keys(replaced)]).toEqual([1, expect.arrayContaining(['active_spawns', 'agents', 'events'])]);
    expect(await exported(world)).not.toMatch(/correct horse|battery/);
    expect(world.log()).not.toMatch(/correct horse|battery/);
    const audit = await world.run('audit', '--json');
    const row = JSON.parse(audit.stdout).items.find(({ kind }: { kind: string }) => kind === 'redact');
    expect(row).toMatchObject({ by: `human ${os.userInfo().username}`, outcome: 'confirmed' });
    // The agent's own record still has it, and the daemon still looks at it.
    agent.write(prompt('again'), apiError(`API Error: 400 again ${secret}`), turnEnd());
    await until('more is stored', async () => (await exported(world)).includes('again [redacted]'), waitMs);
    expect(await exported(world)).not.toMatch(/correct horse|battery/);

    for (const [input, why] of [
      ['', /nothing came/],
      ['x'.repeat(20_000), /larger than 16 KiB/],
      ['confirmed', /word or an id/],
      ['named-ps', /name of an agent/],
    ] as const) {
      const refused = await redact(input);
      expect([refused.code, refused.stdout, refused.stderr]).toEqual([2, '', expect.stringMatching(why)]);
      expect(refused.stderr).toMatch(/^watchkeeper: [^\n]+\n$/);
    }

    await world.down();
    const log = path.join(world.dataDir, 'daemon.log');
    writeFileSync(log, `${readFileSync(log, 'utf8')}the other one: hunter2hunter2\n`);
    const down = await redact('hunter2hunter2', '--json');
    expect(down.code, down.stderr).toBe(0);
    expect(down.json()).toMatchObject({ v: 1, replaced: {}, files: [log] });
    expect(readFileSync(log, 'utf8')).toMatch(/the other one: \[redacted\]\n$/);
    expect((await world.run('status')).code).toBe(3);
  });
});
