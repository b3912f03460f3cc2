// Background work on the real client: what hangs or falls silent is found in time, and its parent is asked once.
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { found, promptedOnce, promptsAbout, ready, seenAs, spawning, stallMs, staysAtOne, tickMs } from './spawning.ts';

afterAll(() => {
  const inTime = found.filter(({ lateMs }) => lateMs >= 0 && lateMs <= tickMs).length;
  const early = found.filter(({ lateMs }) => lateMs < 0);
  const list = found.map(({ what, lateMs }) => `${what}: ${lateMs} ms after the threshold`).join('\n');
  console.log(`${inTime} of ${found.length} found within a tick (${tickMs} ms) of the threshold\n${list}`);
  expect(early).toEqual([]);
  expect(inTime).toBe(found.length);
});

describe.concurrent('background work', () => {
  describe('work that hangs or falls silent is found, and its parent is asked once', () => {
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

  describe('what needs no word gets none', () => {
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
  });
});
