// Background work on the real client that fails, is given up, waits or loses its parent: who is told, and how often.
import { appendFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Scenario } from './scenario.ts';
import { promptedOnce, promptsAbout, ready, seenAs, settings, spawning, stallMs, staysAtOne } from './spawning.ts';

describe.concurrent('background work', () => {
  describe('work that fails is found, and its parent is asked once', () => {
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
          // Two that type at once would not know whose text they submit; nor whose turn it is that is held.
          await s.watchkeeper(['pause']);
          await agent.waitStatus('idle');
          const turn = agent.model.hold();
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
        // Before the last session is gone, and its tmux server with it.
        const killed = await ready(s, watch, { session: 'killed-ps', shell: 'sh' });
        await closed.exit();
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
