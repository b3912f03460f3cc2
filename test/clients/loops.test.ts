// The closed loops: trouble on the real client, found, acted on and recorded, with nobody at the keyboard.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { isRunning } from '../../src/conform/processes.ts';
import { type Agent, launchAgent } from './agent.ts';
import { type Scenario, scenario } from './scenario.ts';
import { Watching } from './watching.ts';

interface AuditItem {
  kind: string;
  trigger: string;
  agent: string;
  outcome: string | null;
  outcomes: { outcome: string }[];
  reason: string | null;
  answer: { text: string } | null;
}

interface Told {
  id: string;
  agent: string;
  check: string;
  event: string;
  what_to_do: string[];
  attach: string | null;
  atMs: number;
}

/** Minutes shortened to seconds; a real webhook receiver. */
function keeping(
  body: (s: Scenario, watch: Watching, told: Told[], receiving: { refuse: boolean }) => Promise<void>,
  settings: Record<string, unknown> = {},
) {
  return scenario(async (s) => {
    const told: Told[] = [];
    const receiving = { refuse: false };
    const receiver = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += chunk;
      });
      request.on('end', () => {
        if (receiving.refuse) response.writeHead(503).end();
        else {
          told.push({ ...(JSON.parse(text) as Told), atMs: Date.now() });
          response.end();
        }
      });
    });
    receiver.listen(0, '127.0.0.1');
    const watch = new Watching(s);
    try {
      await s.until('receiver', () => receiver.listening);
      const config = {
        tickSeconds: 0.5,
        prompt: { minIntervalMinutes: 0.05, humanQuietSeconds: 1 },
        waiting: { notifyMinutes: 0.05, repeatMinutes: 0.05 },
        notify: [
          { channel: 'ops', type: 'webhook', url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/` },
        ],
        ...settings,
      };
      const file = path.join(s.home, 'config.yaml');
      writeFileSync(file, JSON.stringify(config));
      await watch.start([], { WATCHKEEPER_CONFIG: file });
      await body(s, watch, told, receiving);
    } finally {
      watch.stop();
      receiver.close();
    }
  });
}

async function audit(s: Scenario, agent: string): Promise<AuditItem[]> {
  return (await s.watchkeeper(['audit', agent, '--json'])).json<{ items: AuditItem[] }>().items;
}

/** A message on its way may still come; the next repeat, after three seconds, may not. */
async function nothingMore(s: Scenario, told: Told[]): Promise<void> {
  const fromMs = Date.now();
  await s.until('more than two repeat times passed', () => Date.now() - fromMs > 8_000);
  expect(told.filter(({ atMs }) => atMs > fromMs + 2_000)).toEqual([]);
}

async function ready(
  s: Scenario,
  watch: Watching,
  options: Partial<Parameters<typeof launchAgent>[0]> & { session: string },
): Promise<Agent> {
  const agent = await launchAgent({ scenario: s, ...options });
  await agent.waitReady();
  await watch.expect(options.session, 'idle', Date.now());
  return agent;
}

describe.concurrent('with nobody at the keyboard', () => {
  describe('what needs nothing is left alone', () => {
    test(
      'a finished turn, an interrupted one and a closed agent: nothing happens for an hour of shortened time',
      keeping(async (s, watch, told) => {
        const done = await ready(s, watch, { session: 'done-ps' });
        await done.type('a small thing');
        await watch.turn('done-ps', 'ok');

        const stopped = await ready(s, watch, { session: 'stopped-ps', shell: 'bash' });
        const long = stopped.model.hold();
        await stopped.type('a long thing');
        await long.arrived;
        await stopped.waitForScreen(/I am thinking/);
        await stopped.keys('Escape');
        await watch.turn('stopped-ps', 'interrupted');

        const closed = await ready(s, watch, { session: 'closed-ps' });
        await closed.exit();
        await watch.expect('closed-ps', 'ended', Date.now());
        const quietFromMs = Date.now();
        // 0.05 minutes stand for five: 36 seconds are an hour.
        await s.until('quiet time passed', () => Date.now() - quietFromMs > 36_000, 60_000);
        expect(told).toEqual([]);
        expect((await s.watchkeeper(['audit', '--json'])).json<{ items: AuditItem[] }>().items).toEqual([]);
      }),
    );
  });

  describe('what a person would do at night is done', () => {
    test(
      'three 529s: found and continued without a human',
      keeping(async (s, watch, told) => {
        const agent = await ready(s, watch, { session: 'night-ps', shell: 'bash' });
        agent.model.overloaded(3);
        agent.model.reply('Back at work.');
        await agent.type('work through the night');
        const item = await s.until(
          'continued',
          async () => (await audit(s, 'night-ps')).find((entry) => entry.answer !== null),
          60_000,
        );
        expect(item).toMatchObject({
          kind: 'prompt',
          trigger: 'rule:silent-stop',
          outcome: 'confirmed',
          answer: { text: 'Back at work.' },
        });
        await watch.turn('night-ps', 'ok');
        await s.until(
          'healthy again',
          async () => (await s.watchkeeper(['health', '--filter', 'unhealthy'])).code === 0,
        );
        expect(told).toEqual([]);
        const typed = (await audit(s, 'night-ps')).filter((entry) => entry.outcome !== 'refused');
        expect(typed.length).toBe(1);
      }),
    );

    test(
      'an API that stays down: three prompts with growing pauses, then a human',
      keeping(async (s, watch, told) => {
        const agent = await ready(s, watch, { session: 'down-ps' });
        agent.model.overloaded(12);
        await agent.type('work');
        await s.until('a human told', () => told.length > 0, 60_000);
        const prompts = (await audit(s, 'down-ps')).filter(
          (entry) => entry.kind === 'prompt' && entry.outcome !== 'refused',
        );
        expect(prompts.length).toBe(3);
        // They arrived, but the service refused them: that is no answer.
        for (const { outcomes, answer } of prompts) {
          expect(outcomes.map(({ outcome }) => outcome)).toEqual(['confirmed', 'failed-by-service']);
          expect(answer).toBeNull();
        }
        expect(told[0]).toMatchObject({ agent: 'down-ps', check: 'silent-stop', event: 'opened' });
      }),
    );

    test(
      'a permission dialog: a person is told in time, told again, and no longer once it is answered',
      keeping(async (s, watch, told) => {
        const agent = await ready(s, watch, { session: 'ask-ps', shell: 'sh' });
        agent.model.tool('Bash', { command: 'touch made', description: 'make a file' });
        await agent.type('make a file');
        await agent.waitDialog(/Do you want to/);
        const sinceMs = agent.registry()?.statusUpdatedAt ?? Date.now();
        const first = await s.until('told', () => told[0]);
        // notifyMinutes 0.05 = 3 s, plus one tick of half a second, plus the way of the message.
        expect(first.atMs - sinceMs).toBeGreaterThan(2_900);
        expect(first.atMs - sinceMs).toBeLessThan(3_000 + 500 + 700);
        expect(first).toMatchObject({ agent: 'ask-ps', check: 'waiting-human' });
        expect(first.attach).toContain('attach -t =ask-ps:');
        const inbox = (await s.watchkeeper(['inbox', '--json'])).json<{
          items: { agent: string; kind: string; answer_with: string[] }[];
        }>();
        expect(inbox.items).toMatchObject([{ agent: 'ask-ps', kind: 'waiting-human' }]);
        await s.until('told again', () => told.length >= 2);
        expect(told[1]).toMatchObject({ id: first.id, event: 'repeated' });
        await agent.keys('Enter');
        await watch.turn('ask-ps', 'ok');
        await s.until('nobody waits', async () => (await s.watchkeeper(['inbox'])).stdout.includes('nobody'));
        await nothingMore(s, told);
      }),
    );

    test(
      'acknowledged: no more messages',
      keeping(async (s, watch, told) => {
        const agent = await ready(s, watch, { session: 'ack-ps' });
        agent.model.question('Which?', ['a', 'b']);
        await agent.type('ask me');
        const first = await s.until('told', () => told[0]);
        expect((await s.watchkeeper(['ack', first.id.slice(0, 8)])).code).toBe(0);
        await nothingMore(s, told);
        expect((await s.watchkeeper(['ack', 'nothing'])).code).toBe(4);
      }),
    );

    test(
      'a stalled stream: prompted after the client had its chance, then a human',
      keeping(
        async (s, watch, told) => {
          const agent = await ready(s, watch, { session: 'still-ps', shell: 'bash' });
          const silent = agent.model.silent();
          await agent.type('say something');
          await silent.arrived;
          const prompted = await s.until(
            'prompted',
            async () => (await audit(s, 'still-ps')).find((entry) => entry.kind === 'prompt' && entry.outcome !== null),
            60_000,
          );
          expect(prompted).toMatchObject({ trigger: 'rule:stalled-turn', outcome: 'queued' });
          await s.until('a human told', () => told[0], 60_000);
          expect(told[0]).toMatchObject({ agent: 'still-ps', check: 'stalled-turn' });
          const why = (await s.watchkeeper(['why', 'still-ps', '--json'])).json<{
            fired: { check: string; prompts: number }[];
          }>();
          expect(why.fired).toMatchObject([{ check: 'stalled-turn', prompts: 1 }]);
        },
        { stall: { thinkingMinutes: 0.05 } },
      ),
    );

    test(
      'a killed agent: a person is told',
      keeping(async (s, watch, told) => {
        const agent = await ready(s, watch, { session: 'dead-ps', shell: 'sh' });
        agent.kill('SIGKILL');
        const first = await s.until('told', () => told[0]);
        expect(first).toMatchObject({ agent: 'dead-ps', check: 'ended-unexpectedly' });
        const item = await s.until('on record', async () => (await audit(s, 'dead-ps')).find(({ outcome }) => outcome));
        expect(item).toMatchObject({ kind: 'notify', outcome: 'told' });
      }),
    );
  });

  describe('a message arrives at least once', () => {
    test(
      'through a channel that is down for a while, and across a daemon killed meanwhile',
      keeping(async (s, watch, told, receiving) => {
        const agent = await ready(s, watch, { session: 'page-ps' });
        receiving.refuse = true;
        agent.model.question('Which?', ['a', 'b']);
        await agent.type('ask me');
        const sick = await s.until(
          'doctor to name the channel',
          async () => {
            const doctor = await s.watchkeeper(['doctor']);
            return doctor.stdout.includes('ops: ') ? doctor : null;
          },
          60_000,
        );
        expect(sick.code).toBe(1);
        const { pid } = JSON.parse(readFileSync(path.join(s.watchkeeperHome, 'daemon.json'), 'utf8')) as {
          pid: number;
        };
        const failures = async () =>
          (await audit(s, 'page-ps')).filter((entry) => entry.kind === 'notify' && entry.outcome === 'failed');
        await s.until('the failure on record', async () => (await failures()).length > 0);
        process.kill(pid, 'SIGKILL');
        await s.until('the daemon gone', () => !isRunning(pid));
        watch.stop();
        receiving.refuse = false;
        await watch.start([], { WATCHKEEPER_CONFIG: path.join(s.home, 'config.yaml') });
        const first = await s.until('told', () => told[0], 60_000);
        expect(first).toMatchObject({ agent: 'page-ps', check: 'waiting-human' });
        expect((await failures()).length).toBeGreaterThan(0);
      }),
    );
  });
});
