// Rows of the state table that are rarer or harder to tell, on the real Claude Code without hooks or status line.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { limitHeaders } from '../../src/clients/claude-code/conform/limit-headers.ts';
import { errorBody } from '../../src/clients/claude-code/conform/model-script.ts';
import { launchAgent } from './agent.ts';
import { expectInTime, StateReport, withinMs } from './state-report.ts';
import { watched } from './watching.ts';

const report = new StateReport('rare');
afterAll(() => report.write());

describe('what leaves little trace is told all the same', () => {
  test(
    'a compaction that the client starts by itself',
    watched(async (s, watch) => {
      // Only observed: else it would be handed over before that.
      const agent = await launchAgent({ scenario: s, session: 'auto', modelName: 'claude-opus-4-6' });
      await agent.waitReady();
      agent.model.reply('Much.', { usage: { input: 50_000 } });
      await agent.type('use some');
      await watch.turn('auto', 'ok');
      agent.model.reply('More.', { usage: { input: 170_000 } });
      await agent.type('use a lot');
      await s.until('nearly full', async () => (await watch.status('auto'))?.context?.used === 170_000);
      const compaction = agent.model.compaction.hold();
      await agent.type('go on');
      const truthMs = (await compaction.arrived).arrivedAt;
      await report.see(watch, 'auto', 'direct, manual', 'compaction by the client itself', 'compacting', truthMs);
      compaction.release();
      await watch.expect('auto', 'idle', (await compaction.ended).endedAt ?? 0);
    }),
  );

  test(
    'a prompt taken back with Escape before any answer is an interrupted turn, not a stuck one',
    watched(async (s, watch) => {
      const agent = await launchAgent({ scenario: s, session: 'esc-ps', shell: 'bash' });
      await agent.waitReady();
      const silent = agent.model.silent();
      await agent.type('say something');
      await silent.arrived;
      await watch.expect('esc-ps', 'working/thinking', Date.now());
      const truthMs = Date.now();
      await agent.keys('Escape');
      await report.see(watch, 'esc-ps', 'bash, manual', 'prompt taken back before any answer', 'idle', truthMs);
      await watch.turn('esc-ps', 'interrupted');
    }),
  );

  test(
    'a plan that waits for approval is a question',
    watched(async (s, watch) => {
      const agent = await launchAgent({ scenario: s, session: 'plan-ps', permissionMode: 'plan', shell: 'sh' });
      await agent.waitReady();
      agent.model.tool('ExitPlanMode', { plan: '1. Do it.' });
      await agent.type('make a plan');
      const waiting = await agent.waitStatus('waiting');
      const sinceMs = waiting.statusUpdatedAt ?? 0;
      await report.see(watch, 'plan-ps', 'sh, plan', 'plan dialog', 'waiting/question', sinceMs);
    }),
  );

  test(
    'a usage limit, with the time it resets, while the client waits for that by itself',
    watched(async (s, watch) => {
      // As a subscriber: only then does the client read the limit's headers.
      const env = { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'dummy' };
      const agent = await launchAgent({ scenario: s, session: 'limit-ps', shell: 'bash', env });
      await agent.waitReady();
      await watch.expect('limit-ps', 'idle', Date.now());
      const resets = Math.floor(Date.now() / 1000) + 3_600;
      const limit = agent.model.error(429, errorBody('rate_limit_error', 'limit'), { headers: limitHeaders(resets) });
      await agent.type('work');
      const truthMs = (await limit.ended).endedAt ?? 0;
      const seen = await report.see(watch, 'limit-ps', 'bash, manual', 'usage limit reached', 'limited', truthMs);
      expect(seen.error).toContain(new Date(resets * 1000).toISOString());
      const found = await s.until('the limit as a finding', async () => {
        const status = await watch.status('limit-ps');
        return status?.findings.length === 0 ? null : status?.findings;
      });
      expect(found).toMatchObject([{ check: 'rate-limited', action: null }]);
      expect(found[0]?.evidence[0]?.text).toContain(new Date(resets * 1000).toISOString());
    }),
  );

  test(
    'a client suspended with Ctrl-Z reads nothing, so its state is unknown until it goes on',
    watched(async (s, watch) => {
      const agent = await launchAgent({ scenario: s, session: 'stopped-ps', shell: 'bash' });
      await agent.waitReady();
      await watch.expect('stopped-ps', 'idle', Date.now());
      const truthMs = Date.now();
      agent.kill('SIGSTOP');
      await report.see(watch, 'stopped-ps', 'bash, manual', 'suspended with Ctrl-Z', 'unknown/suspended', truthMs);
      agent.kill('SIGCONT');
      await watch.expect('stopped-ps', 'idle', Date.now());
    }),
  );
});

test(
  "a subagent's own tool is seen, and its progress is its parent's activity",
  watched(async (s, watch) => {
    const agent = await launchAgent({
      scenario: s,
      session: 'parent-ps',
      shell: 'sh',
      extraSettings: { permissions: { allow: ['Bash'] } },
    });
    await agent.waitReady();
    await watch.expect('parent-ps', 'idle', Date.now());
    agent.model.tool('Agent', { description: 'work', prompt: 'work', subagent_type: 'general-purpose' });
    agent.model.subagent.tool('Bash', { command: 'sleep 12', description: 'wait' });
    await agent.type('start an agent');
    const busy = await s.until(
      'the tool of the subagent',
      async () => {
        const status = await watch.status('parent-ps');
        return status?.background[0]?.tool === 'Bash' && status.detail === 'subagent' ? status : null;
      },
      15_000,
    );
    expect(busy.state).toBe('working');
    const before = Date.parse(busy.last_activity ?? '');
    await s.until(
      'its progress',
      async () => Date.parse((await watch.status('parent-ps'))?.last_activity ?? '') > before,
      20_000,
    );
    await watch.turn('parent-ps', 'ok', 30_000);
  }),
);

describe('agents are found by themselves', () => {
  test(
    'in one session several panes, and two config directories at once',
    watched(async (s, watch) => {
      const shared = path.join(s.dir, 'shared-config');
      const project = path.join(s.dir, 'second');
      // Trusted from the start: a client at work would write over what is added later.
      mkdirSync(shared);
      const trusted = { [project]: { hasTrustDialogAccepted: true } };
      writeFileSync(path.join(shared, '.claude.json'), JSON.stringify({ projects: trusted }));
      const [one, two] = await Promise.all([
        launchAgent({ scenario: s, session: 'alpha-ps', configDir: shared }),
        launchAgent({ scenario: s, session: 'beta', shell: 'sh' }),
      ]);
      await Promise.all([one.waitReady(), two.waitReady()]);
      // The first client again, in a second pane of the same session.
      const three = await launchAgent({
        scenario: s,
        session: 'alpha-second',
        splitOf: 'alpha-ps',
        configDir: shared,
        project,
      });
      await three.waitReady();
      const held = one.model.hold();
      await one.type('think');
      await watch.expect('alpha-ps', 'working/thinking', Date.now());
      const states = await s.until('all three', async () => {
        const [a, b, c] = await Promise.all(['alpha-ps', 'beta', 'alpha-ps.1'].map((name) => watch.status(name)));
        return a && b && c ? { a, b, c } : null;
      });
      expect(states.a).toMatchObject({ pid: one.pid(), state: 'working' });
      expect(states.b).toMatchObject({ pid: two.pid(), state: 'idle', authority: 'observe' });
      expect(states.c).toMatchObject({ pid: three.pid(), state: 'idle', project: 'alpha' });
      held.release();
    }),
  );

  test(
    'in a plain terminal without tmux: seen through the registry, never more than observed',
    watched(async (s, watch) => {
      // The user's own config directory: nothing tells Watchkeeper where to look.
      const agent = await launchAgent({ scenario: s, session: 'plain', terminal: 'pty', configDir: 'home' });
      await agent.waitReady();
      const name = await s.until('a name', () => (agent.pid() === null ? null : `project-${agent.pid()}`));
      const fresh = await watch.expect(name, 'idle', agent.registry()?.statusUpdatedAt ?? 0);
      expectInTime('a fresh prompt', fresh.lagMs, withinMs + 1_000);
      expect(fresh.status).toMatchObject({ tmux: null, authority: 'observe', project: 'project' });

      const see = (truth: string, wanted: string, truthMs: number) =>
        report.see(watch, name, 'plain terminal, manual', truth, wanted, truthMs);
      const thinking = agent.model.hold();
      await agent.type('think');
      await see('model thinking or streaming', 'working/thinking', (await thinking.arrived).arrivedAt);
      thinking.release();
      await see('turn ended well', 'idle', (await thinking.ended).endedAt ?? 0);

      agent.model.tool('Bash', { command: 'touch x && sleep 3', description: 'make a file' });
      await agent.type('make a file');
      const dialog = await agent.waitStatus('waiting');
      await see('permission dialog', 'waiting/permission', dialog.statusUpdatedAt ?? 0);
      await agent.waitDialog(/Do\s*you\s*want/);
      const approvedMs = Date.now();
      await agent.keys('Enter');
      await see('a tool runs', 'working/tool Bash', approvedMs);
      const killedMs = Date.now();
      agent.kill('SIGKILL');
      await see('kill -9', 'ended', killedMs);
    }),
  );
});
