// The state table of the interface, on the real Claude Code, without hooks or status line.
import { afterAll, describe, expect, test } from 'vitest';
import { errorBody } from '../../src/clients/claude-code/conform/model-script.ts';
import { launchAgent } from '../clients/agent.ts';
import { StateReport, withinMs } from '../clients/state-report.ts';
import { watched } from '../clients/watching.ts';

const report = new StateReport('common');
afterAll(() => report.write());

describe('an agent started directly, in manual permission mode', () => {
  const how = 'direct, manual';
  const name = 'demo-ps';

  test(
    'is seen idle, thinking, waiting for a permission, running a tool, asking, interrupted',
    watched(async (s, watch) => {
      const startedMs = Date.now();
      const agent = await launchAgent({ scenario: s, session: name, permissionMode: 'default' });
      await agent.waitReady();
      const fresh = await report.see(
        watch,
        name,
        how,
        'at the prompt, fresh',
        'idle',
        agent.registry()?.statusUpdatedAt ?? startedMs,
      );
      expect(fresh).toMatchObject({
        project: 'demo',
        client: 'claude-code',
        client_version: '2.1.325',
        authority: 'manage',
        last_turn: null,
      });
      expect(fresh.pid).toBe(agent.pid());
      expect(fresh.tmux).toMatchObject({ session: name, pane: agent.terminal.pane, socket: s.tmux.socket });

      const thinking = agent.model.hold();
      await agent.type('think about it');
      await report.see(
        watch,
        name,
        how,
        'model thinking or streaming',
        'working/thinking',
        (await thinking.arrived).arrivedAt,
      );
      thinking.release();
      const answered = await report.see(
        watch,
        name,
        how,
        'turn ended well',
        'idle',
        (await thinking.ended).endedAt ?? 0,
      );
      expect(answered.error).toBeNull();
      await watch.turn(name, 'ok', withinMs);

      agent.model.tool('Bash', { command: 'touch made-by-tool && sleep 4', description: 'make a file' });
      await agent.type('make a file');
      await agent.waitForScreen(/Do you want to/);
      await report.see(
        watch,
        name,
        how,
        'permission dialog',
        'waiting/permission',
        agent.registry()?.statusUpdatedAt ?? 0,
      );
      const toolMs = await agent.answer(/Do you want to/, 'Enter');
      const tool = await report.see(watch, name, how, 'a tool runs', 'working/tool Bash', toolMs);
      expect(tool.tool).toBe('Bash');
      await agent.waitStatus('idle');
      await report.see(watch, name, how, 'turn with a tool ended', 'idle', agent.registry()?.statusUpdatedAt ?? 0);

      agent.model.question('Which colour?', ['red', 'blue']);
      await agent.type('ask me something');
      await agent.waitForScreen(/Which colour/);
      await report.see(watch, name, how, 'question dialog', 'waiting/question', agent.registry()?.statusUpdatedAt ?? 0);
      await agent.answer(/Which colour/, 'Enter');
      await agent.waitStatus('idle');
      await report.see(watch, name, how, 'question answered', 'idle', agent.registry()?.statusUpdatedAt ?? 0);

      const long = agent.model.hold();
      await agent.type('talk for long');
      await long.arrived;
      await agent.waitForScreen(/I am thinking about it/);
      await watch.expect(name, 'working/thinking', Date.now());
      const escapedMs = Date.now();
      await agent.keys('Escape');
      const interrupted = await report.see(watch, name, how, 'interrupted by the human', 'idle', escapedMs);
      await watch.turn(name, 'interrupted');
      expect(interrupted.error).toBeNull();
    }),
  );

  test(
    'is seen compacting, cleared into a new session, and ended by /exit',
    watched(async (s, watch) => {
      const agent = await launchAgent({ scenario: s, session: name, permissionMode: 'default' });
      await agent.waitReady();
      agent.model.usage({ cacheRead: 50_000 });
      await agent.type('one');
      await agent.waitStatus('idle');
      await s.until('context known', async () => (await watch.status(name))?.context?.used);

      const compaction = agent.model.compaction.hold();
      await agent.type('/compact');
      await report.see(watch, name, how, 'compaction by /compact', 'compacting', (await compaction.arrived).arrivedAt);
      compaction.release();
      await report.see(watch, name, how, 'compaction over', 'idle', (await compaction.ended).endedAt ?? 0);

      const before = await watch.status(name);
      await agent.type('/clear');
      const clearedMs = Date.now();
      const cleared = await s.until('a new session', async () => {
        const now = await watch.status(name);
        return now?.session_id !== before?.session_id ? now : null;
      });
      report.add({
        truth: '/clear',
        how,
        state: 'idle, new session of the same agent',
        source: cleared.source,
        lagMs: Date.now() - clearedMs,
      });
      expect(cleared).toMatchObject({ agent: name, pid: before?.pid, state: 'idle', context: null });

      const exiting = agent.exit();
      await exiting;
      await report.see(watch, name, how, 'clean exit', 'ended', Date.now());
    }),
  );
});

describe('an agent under bash, where edits are accepted', () => {
  const how = 'bash, acceptEdits';
  const name = 'worker';
  const settings = { permissions: { allow: ['Bash'] } };

  test(
    'is seen with a subagent, a background shell, retries, three 529s, and killed with -9',
    watched(async (s, watch) => {
      const agent = await launchAgent({
        scenario: s,
        session: name,
        shell: 'bash',
        permissionMode: 'acceptEdits',
        extraSettings: settings,
      });
      await agent.waitReady();
      const fresh = await watch.expect(name, 'idle', Date.now());
      expect(fresh.status).toMatchObject({ authority: 'observe', project: 'project' });

      const child = agent.model.subagent.hold();
      agent.model.tool('Agent', {
        description: 'look around',
        prompt: 'look around',
        subagent_type: 'general-purpose',
      });
      const parent = agent.model.reply('Agent started.');
      await agent.type('start an agent');
      await child.arrived;
      const parentEnd = (await parent.ended).endedAt ?? 0;
      const busy = await report.see(
        watch,
        name,
        how,
        "subagent runs after the parent's stop",
        'working/subagent',
        parentEnd,
      );
      expect(busy.background).toMatchObject([{ kind: 'subagent' }]);
      child.release();
      await child.ended;
      // It is idle for a moment before the report of the subagent begins a turn of its own.
      await s.until('the report', () => agent.model.turns.at(-1)?.prompt.includes('task-notification'));
      await agent.waitStatus('idle');
      const done = await report.see(
        watch,
        name,
        how,
        'subagent reported',
        'idle',
        agent.registry()?.statusUpdatedAt ?? 0,
      );
      await s.until('no background', async () => (await watch.status(name))?.background.length === 0);
      expect(done.error).toBeNull();
      await watch.turn(name, 'ok', withinMs);

      agent.model.tool('Bash', { command: 'sleep 300', description: 'wait', run_in_background: true });
      await agent.type('wait in the background');
      await agent.waitStatus('shell');
      const shell = await report.see(
        watch,
        name,
        how,
        'background shell at the prompt',
        'idle',
        agent.registry()?.statusUpdatedAt ?? 0,
      );
      const background = await s.until('the shell in background', async () => {
        const now = await watch.status(name);
        return now?.background.some((work) => work.kind === 'shell') ? now.background : null;
      });
      expect(background).toMatchObject([{ kind: 'shell' }]);
      expect(shell.state).toBe('idle');

      agent.model.error(500, errorBody('api_error', 'Internal server error'), { times: 3 });
      await agent.type('work through errors');
      await s.until(
        'a second attempt',
        () => agent.model.turns.filter((turn) => turn.prompt.includes('work through errors')).length >= 2,
      );
      await report.see(watch, name, how, 'the client retries an API error', 'retrying', Date.now());
      await s.until('recovered', async () => (await watch.status(name))?.state === 'idle', 30_000);

      const last = agent.model.overloaded(3);
      await agent.type('work when overloaded');
      const failedMs = (await last.ended).endedAt ?? 0;
      await report.see(watch, name, how, 'turn given up after three 529s', 'idle', failedMs);
      const failed = await watch.turn(name, 'failed', withinMs);
      expect(failed.error).toMatch(/529/);

      agent.kill('SIGKILL');
      await report.see(watch, name, how, 'kill -9', 'ended', Date.now());
    }),
  );
});

describe('an agent under sh', () => {
  const how = 'sh, auto';
  const name = 'helper-ps';

  test(
    'is seen at work and ended when its tmux server is killed',
    watched(async (s, watch) => {
      const agent = await launchAgent({ scenario: s, session: name, shell: 'sh', permissionMode: 'auto' });
      await agent.waitReady();
      const thinking = agent.model.hold();
      await agent.type('think');
      await report.see(
        watch,
        name,
        how,
        'model thinking or streaming',
        'working/thinking',
        (await thinking.arrived).arrivedAt,
      );
      await s.tmux.run('kill-server');
      await s.until('the client gone', () => agent.pid() === null);
      await report.see(watch, name, how, 'tmux server killed', 'ended', Date.now());
    }),
  );
});
