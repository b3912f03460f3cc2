// Background work on the real client: what hangs, fails or falls silent is found in time, and its parent is asked once.
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Scenario } from './scenario.ts';
import {
  found,
  promptedOnce,
  promptsAbout,
  ready,
  seenAs,
  settings,
  spawning,
  stallMs,
  staysAtOne,
  tickMs,
} from './spawning.ts';

afterAll(() => {
  const inTime = found.filter(({ lateMs }) => lateMs >= 0 && lateMs <= tickMs).length;
  const early = found.filter(({ lateMs }) => lateMs < 0);
  const list = found.map(({ what, lateMs }) => `${what}: ${lateMs} ms after the threshold`).join('\n');
  console.log(`${inTime} of ${found.length} found within a tick (${tickMs} ms) of the threshold\n${list}`);
  expect(early).toEqual([]);
  expect(inTime).toBe(found.length);
});

describe.concurrent('background work', () => {
  describe('work that hangs, fails or falls silent is found, and its parent is asked once', () => {
    test(
      'a background shell that stalls',
      spawning(async (s, watch, rows) => {
        const agent = await ready(s, watch, { session: 'shell-ps', shell: 'bash' });
        agent.model.tool('Bash', {
          command: 'echo begun; sleep 300',
          description: 'a long build',
          run_in_background: true,
        });
        await agent.type('build it');
        const row = await seenAs(s, rows, 'shell', 'stalled', 'background shell');
        expect(row).toMatchObject({ task_type: 'shell', description: 'a long build' });
        expect(row.output_file).toMatch(new RegExp(`/tasks/${row.task_id}\\.output$`));
        expect(row.last_output_change?.getTime()).toBe(Math.round(statSync(row.output_file ?? '').mtimeMs));
        await promptedOnce(s, agent, row);
        await staysAtOne(s, agent, row.task_id);
        // Nor does the next daemon ask again.
        watch.stop();
        const { pid } = JSON.parse(readFileSync(path.join(s.watchkeeperHome, 'daemon.json'), 'utf8')) as {
          pid: number;
        };
        process.kill(pid, 'SIGKILL');
        await watch.start([], { WATCHKEEPER_CONFIG: path.join(s.home, 'config.yaml') });
        await staysAtOne(s, agent, row.task_id);
        const check = await s.until('the action on record', async () =>
          (await rows.checks('shell')).find(({ action_taken: taken }) => taken !== null),
        );
        expect(check).toMatchObject({ status: 'warning' });
        expect(check.action_taken).toMatch(/^prompted parent: \w+, action [0-9a-f-]{36}/);
        const health = (await s.watchkeeper(['health', 'shell-ps', '--json'])).json<{ findings: object[] }>();
        expect(health.findings).toMatchObject([{ check: 'spawn-stalled', subject: row.task_id }]);
      }),
    );

    test(
      'a subagent that hangs',
      spawning(async (s, watch, rows) => {
        const agent = await ready(s, watch, { session: 'hang-ps', shell: 'sh', permissionMode: 'default' });
        const child = agent.model.subagent.silent();
        agent.model.tool('Agent', { description: 'look around', prompt: 'look', subagent_type: 'general-purpose' });
        await agent.type('start an agent');
        await child.arrived;
        const row = await seenAs(s, rows, 'hang', 'stalled', 'subagent');
        expect(row).toMatchObject({ task_type: 'subagent', description: 'look around' });
        expect(row.output_file).toMatch(new RegExp(`/subagents/agent-${row.task_id}\\.jsonl$`));
        await promptedOnce(s, agent, row);
        await staysAtOne(s, agent, row.task_id);
        // With its next sign it runs again, and with its end it is finished.
        child.release();
        await s.until('finished', async () => (await rows.spawns('hang'))[0]?.status === 'finished', 30_000);
        await s.until('healthy', async () => (await s.watchkeeper(['health', '--filter', 'unhealthy'])).code === 0);
        const statuses = (await rows.checks('hang')).map(({ details }) => details.spawn_status).filter(Boolean);
        expect(statuses[0]).toBe('stalled');
        expect(statuses.at(-1)).toBe('finished');
      }),
    );

    test(
      'a subagent that fails',
      spawning(async (s, watch, rows) => {
        const agent = await ready(s, watch, { session: 'fail-ps' });
        agent.model.subagent.overloaded(3);
        agent.model.tool('Agent', { description: 'try it', prompt: 'try', subagent_type: 'general-purpose' });
        await agent.type('start an agent');
        const row = await seenAs(s, rows, 'fail', 'failed', 'subagent');
        expect(row.reason).toContain('529');
        const prompt = await promptedOnce(s, agent, row);
        expect(prompt).toContain('has failed');
        await staysAtOne(s, agent, row.task_id);
        await s.until('healthy', async () => (await s.watchkeeper(['health', '--filter', 'unhealthy'])).code === 0);
      }),
    );

    test(
      'a tracked output file that stops growing, beside one that grows slowly but healthily',
      spawning(async (s, watch, rows) => {
        const agent = await ready(s, watch, { session: 'track-ps', shell: 'bash' });
        const stops = path.join(s.dir, 'stops.log');
        const grows = path.join(s.dir, 'grows.log');
        writeFileSync(stops, 'begun\n');
        writeFileSync(grows, '.');
        for (const [task, file] of [
          ['stops', stops],
          ['grows', grows],
        ] as const) {
          const words = ['--project', 'track', '--task-id', task, '--type', 'build', '--output', file];
          const added = await s.watchkeeper(['spawn-track', 'add', ...words, '--json']);
          expect(added.code, added.stderr).toBe(0);
          expect(added.json()).toMatchObject({ agent: 'track-ps', output_file: file });
        }
        // A byte now and then, far from the threshold: how near it may come is tested on a clock of its own.
        let lastMs = Date.now();
        let written = 0;
        const drip = setInterval(() => {
          if (Date.now() - lastMs < stallMs / 4) return;
          lastMs = Date.now();
          written += 1;
          appendFileSync(grows, '.');
        }, 20);
        try {
          const row = await seenAs(s, rows, 'track', 'stalled', 'tracked file');
          expect(row).toMatchObject({ task_id: 'stops', task_type: 'build', output_file: stops });
          await promptedOnce(s, agent, row);
          await s.until('more bytes', () => written >= 6, 60_000);
          await staysAtOne(s, agent, 'stops');
          const seen = (await rows.checks('track')).filter(({ details }) => details.task_id === 'grows');
          expect(seen).toEqual([]);
          expect(promptsAbout(agent, 'grows')).toEqual([]);
        } finally {
          clearInterval(drip);
        }
        const done = await s.watchkeeper(['spawn-track', 'done', 'track', 'grows']);
        expect(done.code, done.stderr).toBe(0);
        const failed = await s.watchkeeper(['spawn-track', 'fail', 'track', 'stops', '--reason', 'given up']);
        expect(failed.code, failed.stderr).toBe(0);
        await s.until(
          'the parent told of the failure',
          () => promptsAbout(agent, 'stops').some((text) => text.includes('has failed (as was reported, ')),
          30_000,
        );
        expect((await rows.spawns('track')).map(({ task_id: id, status }) => `${id} ${status}`)).toEqual([
          'stops failed',
          'grows finished',
        ]);
      }),
    );
  });

  describe('work that is given up', () => {
    test(
      'its parent is told once more, then a human, once',
      spawning(
        async (s, watch, rows) => {
          const agent = await ready(s, watch, { session: 'given-ps', shell: 'sh' });
          const file = path.join(s.dir, 'given.log');
          writeFileSync(file, 'begun\n');
          const words = ['--project', 'given', '--task-id', 'up', '--output', file];
          expect((await s.watchkeeper(['spawn-track', 'add', ...words])).code).toBe(0);
          await seenAs(s, rows, 'given', 'abandoned', 'given up');
          const told = await s.until('a human told', async () => {
            const { items } = (await s.watchkeeper(['inbox', '--json'])).json<{
              items: { kind: string; subject: string }[];
            }>();
            return items.length > 0 ? items : null;
          });
          expect(told).toMatchObject([{ kind: 'spawn-abandoned', subject: 'up' }]);
          const fromMs = Date.now();
          await s.until('a while later', () => Date.now() - fromMs > 4_000);
          const prompts = [...new Set(promptsAbout(agent, 'up'))];
          expect(prompts.map((text) => text.includes('abandoned'))).toEqual([false, true]);
          const { items } = (await s.watchkeeper(['audit', 'given-ps', '--json'])).json<{
            items: { kind: string }[];
          }>();
          expect(items.filter(({ kind }) => kind === 'notify').length).toBe(1);
          await s.until('healthy', async () => {
            appendFileSync(file, 'back again\n');
            return (await s.watchkeeper(['health', '--filter', 'unhealthy'])).code === 0;
          });
        },
        { spawn: { stallMinutes: 0.05, abandonMinutes: 0.25 }, waiting: { repeatMinutes: 0.01 } },
      ),
    );
  });

  describe('what needs no word gets none', () => {
    test(
      'a subagent that waits for a permission is waiting, not stalled',
      spawning(async (s, watch, rows) => {
        const agent = await ready(s, watch, { session: 'ask-ps', shell: 'sh', permissionMode: 'default' });
        agent.model.subagent.tool('Write', { file_path: path.join(agent.folder.project, 'made'), content: 'x' });
        agent.model.tool('Agent', { description: 'write it', prompt: 'write', subagent_type: 'general-purpose' });
        await agent.type('start an agent');
        await agent.waitDialog(/Do you want to/);
        const sinceMs = Date.now();
        await s.until('longer than the threshold', () => Date.now() - sinceMs > stallMs * 1.5, 20_000);
        const [row] = await rows.spawns('ask');
        expect(row).toMatchObject({ status: 'running', reason: 'waits for a permission' });
        await agent.keys('Enter');
        await s.until('finished', async () => (await rows.spawns('ask'))[0]?.status === 'finished', 30_000);
        expect((await rows.checks('ask')).map(({ details }) => details.spawn_status).filter(Boolean)).toEqual([
          'finished',
        ]);
      }),
    );

    test(
      'a busy parent is asked when its turn is over, and not about work that moved meanwhile',
      spawning(async (s, watch, rows) => {
        const agent = await ready(s, watch, { session: 'busy-ps' });
        const file = path.join(s.dir, 'busy.log');
        writeFileSync(file, 'begun\n');
        const words = ['--project', 'busy', '--task-id', 'moves', '--output', file];
        expect((await s.watchkeeper(['spawn-track', 'add', ...words])).code).toBe(0);
        const turn = agent.model.hold();
        await agent.type('think for a long time');
        await turn.arrived;
        await seenAs(s, rows, 'busy', 'stalled', 'tracked file of a busy parent');
        await s.until('the wait on record', async () =>
          (await s.watchkeeper(['why', 'busy-ps'])).stdout.includes('wait: it is working (spawn-stalled moves)'),
        );
        appendFileSync(file, 'on and on\n');
        await s.until('running again', async () => (await rows.spawns('busy'))[0]?.status === 'running');
        turn.release();
        await watch.turn('busy-ps', 'ok');
        const audit = await s.until('dropped', async () => {
          const { items } = (await s.watchkeeper(['audit', 'busy-ps', '--json'])).json<{
            items: Record<string, unknown>[];
          }>();
          return items.length > 0 ? items : null;
        });
        expect(audit).toMatchObject([
          { trigger: 'rule:spawn-stalled', subject: 'moves', outcome: 'refused', reason: 'stale' },
        ]);
        expect(promptsAbout(agent, 'moves')).toEqual([]);
      }),
    );

    test(
      'work that cannot be seen is asked about at regular times, never in the middle of a turn, and lives by the answers',
      spawning(
        async (s, watch, rows) => {
          const agent = await ready(s, watch, { session: 'hidden-ps', shell: 'bash' });
          const words = ['--project', 'hidden', '--task-id', 'far-away'];
          const bornMs = Date.now();
          expect((await s.watchkeeper(['spawn-track', 'add', ...words])).code).toBe(0);
          const asked = () => agent.model.turns.filter(({ prompt }) => prompt.includes('status of your active spawns'));
          await s.until('asked twice', () => asked().length >= 2, 30_000);
          // By the ledger: how soon the client passes it on is its own affair.
          const { items } = (await s.watchkeeper(['audit', 'hidden-ps', '--json'])).json<{
            items: { trigger: string; outcome: string | null; at: string }[];
          }>();
          const [first = 0, second = 0] = items
            .filter(({ trigger, outcome }) => trigger === 'rule:spawn-progress' && outcome !== 'refused')
            .map(({ at }) => Date.parse(at))
            .sort((a, b) => a - b);
          expect(second - first).toBeGreaterThanOrEqual(3_000);
          await s.until('as old as what counts as abandoned', () => Date.now() - bornMs > 20_000, 30_000);
          expect((await rows.spawns('hidden'))[0]?.status).toBe('running');
          const turn = agent.model.hold();
          // Two that type at once would not know whose text they submit.
          await s.watchkeeper(['pause']);
          await agent.waitStatus('idle');
          await agent.type('think for a long time');
          await turn.arrived;
          await s.watchkeeper(['unpause']);
          const count = asked().length;
          const fromMs = Date.now();
          await s.until('two intervals later', () => Date.now() - fromMs > 7_000);
          expect(asked().length).toBe(count);
          turn.release();
          await s.watchkeeper(['spawn-track', 'done', 'hidden', 'far-away']);
          await s.until('finished', async () => (await rows.spawns('hidden'))[0]?.status === 'finished');
        },
        { spawn: { ...settings.spawn, progressMinutes: 0.05, abandonMinutes: 0.3 } },
      ),
    );
  });

  describe('work without a parent: a human is told once, with the paths', () => {
    interface Item {
      kind: string;
      agent: string;
      subject: string | null;
      text: string;
    }
    const inbox = async (s: Scenario) => (await s.watchkeeper(['inbox', '--json'])).json<{ items: Item[] }>().items;
    const messages = async (s: Scenario, agent: string) => {
      const { items } = (await s.watchkeeper(['audit', agent, '--json'])).json<{
        items: { kind: string; trigger: string }[];
      }>();
      return items.filter(({ kind, trigger }) => kind === 'notify' && trigger === 'rule:orphaned-work').length;
    };

    test(
      'its session was cleared',
      spawning(async (s, watch, rows) => {
        const agent = await ready(s, watch, { session: 'clear-ps', shell: 'bash' });
        const child = agent.model.subagent.hold();
        agent.model.tools([
          { name: 'Bash', input: { command: 'sleep 300', description: 'a long wait', run_in_background: true } },
          { name: 'Agent', input: { description: 'look', prompt: 'look', subagent_type: 'general-purpose' } },
        ]);
        await agent.type('start both');
        await child.arrived;
        await s.until('both there', async () => (await rows.spawns('clear')).length === 2);
        await agent.type('/clear');
        const [item] = await s.until('told', async () => {
          const items = await inbox(s);
          return items.length > 0 ? items : null;
        });
        expect(item).toMatchObject({ kind: 'orphaned-work', agent: 'clear-ps' });
        for (const { output_file: file } of await rows.spawns('clear')) expect(item?.text).toContain(file);
        // It is in the inbox as soon as it is about to be told.
        const check = await s.until('its row', async () =>
          (await rows.checks('clear', 'orphaned_work')).find(({ action_taken: taken }) => taken !== null),
        );
        expect(check).toMatchObject({ status: 'warning' });
        expect(check.action_taken).toMatch(/^told human: told, action [0-9a-f-]{36}$/);
        // The subagent writes on in the folder of the new session, and its end is told there.
        child.release();
        await s.until('the subagent finished', async () =>
          (await rows.spawns('clear')).some(
            ({ status, task_type: type }) => type === 'subagent' && status === 'finished',
          ),
        );
        await s.until(
          'the shell silent',
          async () => (await rows.spawns('clear')).some(({ status }) => status === 'stalled'),
          30_000,
        );
        expect(await messages(s, 'clear-ps')).toBe(1);
        expect(agent.model.turns.filter(({ prompt }) => prompt.includes('[wk-'))).toEqual([]);
      }),
    );

    test(
      'its parent was closed, or killed',
      spawning(async (s, watch, rows) => {
        const closed = await ready(s, watch, { session: 'closed-ps' });
        const file = path.join(s.dir, 'closed.log');
        const words = ['--project', 'closed', '--task-id', 'goes-on', '--output', file];
        expect((await s.watchkeeper(['spawn-track', 'add', ...words])).code).toBe(0);
        await s.until('tracked', async () => (await watch.status('closed-ps'))?.spawns.length === 1);
        await closed.exit();
        const killed = await ready(s, watch, { session: 'killed-ps', shell: 'sh' });
        killed.model.tool('Bash', { command: 'sleep 300', description: 'a long wait', run_in_background: true });
        await killed.type('wait');
        await s.until('there', async () => (await rows.spawns('killed')).length === 1);
        killed.kill('SIGKILL');
        const items = await s.until('both told', async () => {
          const orphaned = (await inbox(s)).filter(({ kind }) => kind === 'orphaned-work');
          return orphaned.length === 2 ? orphaned : null;
        });
        expect(items.map(({ agent }) => agent).sort()).toEqual(['closed-ps', 'killed-ps']);
        expect(items.find(({ agent }) => agent === 'closed-ps')?.text).toContain(file);
        const [row] = await rows.spawns('killed');
        expect(items.find(({ agent }) => agent === 'killed-ps')?.text).toContain(row?.output_file);
        for (const project of ['closed', 'killed']) {
          expect(await rows.checks(project, 'orphaned_work')).toMatchObject([{ status: 'warning' }]);
          expect(await messages(s, `${project}-ps`)).toBe(1);
        }
      }),
    );
  });
});
