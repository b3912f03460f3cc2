// Speaks to one agent through the CLI, in one state after the other in which it can be spoken to.
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../src/conform/until.ts';
import { type Agent, type LaunchOptions, launchAgent } from './agent.ts';
import { oneLine, severalLines } from './prompt-payloads.ts';
import type { PromptReport } from './prompt-report.ts';
import { emptyBox, expectExact, say } from './prompting.ts';
import type { Scenario } from './scenario.ts';
import type { Watching } from './watching.ts';

const states = [
  'idle',
  'streaming',
  'tool running',
  'draft present',
  'copy mode',
  'queue not empty',
  'compacting',
] as const;
type State = (typeof states)[number];

export interface Lane {
  name: string;
  shell: NonNullable<LaunchOptions['shell']>;
  permissionMode: 'default' | 'auto';
  sends: number;
}

const drafts = [
  'a',
  'my half typed thought',
  'two\nrows',
  'grüße 日本 🎉',
  'a\nlong\ndraft\nof\nfive',
  'y'.repeat(300),
];

/** One agent, spoken to again and again, in one state after the other. */
export async function converse(
  s: Scenario,
  watch: Watching,
  lane: Lane,
  first: number,
  report: PromptReport,
): Promise<void> {
  const agent = await launchAgent({
    scenario: s,
    session: lane.name,
    shell: lane.shell,
    permissionMode: lane.permissionMode,
  });
  await agent.waitReady();
  await watch.expect(lane.name, 'idle', Date.now());
  const texts = lane.shell === 'direct' ? mixed(severalLines, oneLine) : oneLine;
  for (let n = 0; n < lane.sends; n += 1) {
    const state = states[n % states.length] ?? 'idle';
    const text = (texts[(first + n) % texts.length] ?? 'hello').replaceAll('%n', `${first + n}`);
    const leave = await enter[state](s, agent, n, report);
    const said = await say(s, lane.name, text);
    report.sent(state, said);
    await leave();
    if (said.proof !== null)
      await expectExact(agent, text, said.tag).then(
        () => report.exact(state),
        (error: Error) => report.wrong(state, error.message),
      );
    await agent.waitStatus('idle', 20_000);
  }
}

/** a b a b …: texts of several lines as often as others. */
function mixed(some: string[], more: string[]): string[] {
  return more.flatMap((text, n) => [some[n % some.length] ?? '', text]);
}

type Leave = () => Promise<void>;

/** Brings the agent into the state; what is handed back ends it. */
const enter: Record<State, (s: Scenario, agent: Agent, n: number, report: PromptReport) => Promise<Leave>> = {
  idle: async () => async () => {},
  async streaming(_s, agent, n) {
    const held = agent.model.hold();
    await agent.type(`talk ${n}`);
    await held.arrived;
    await agent.waitForScreen(/I am thinking about it/);
    return async () => held.release();
  },
  async 'tool running'(_s, agent, n) {
    const fifo = path.join(agent.folder.project, 'go');
    if (!existsSync(fifo)) execFileSync('mkfifo', [fifo]);
    agent.model.tool('Bash', { command: 'cat go', description: 'wait' });
    await agent.type(`use a tool ${n}`);
    await agent.waitForScreen(/\$ cat go/);
    return async () => writeFileSync(fifo, 'go\n');
  },
  async 'draft present'(_s, agent, n, report) {
    // Every other time over a running turn, where the prompt is queued.
    const held = n % 2 === 0 ? agent.model.hold() : null;
    if (held !== null) {
      await agent.type(`talk under a draft ${n}`);
      await held.arrived;
    }
    await agent.draft(drafts[Math.floor(n / states.length) % drafts.length] ?? 'draft');
    await sleep(300);
    const before = boxOf(await agent.screen());
    return async () => {
      const back = async () => boxOf(await agent.screen()) === before;
      report.draft(await until('the draft back in the box', back, 15_000).catch(() => false));
      held?.release();
      await emptyBox(agent);
    };
  },
  async 'copy mode'(s, agent) {
    await s.tmux.run('copy-mode', '-t', agent.terminal.pane ?? '');
    return async () => {};
  },
  async 'queue not empty'(_s, agent, n) {
    const held = agent.model.hold();
    await agent.type(`talk long ${n}`);
    await held.arrived;
    await agent.type(`queued by hand ${n}`);
    await agent.waitForScreen(/Press up to edit queued messages/);
    return async () => held.release();
  },
  async compacting(_s, agent) {
    const held = agent.model.compaction.hold();
    await agent.type('/compact');
    await held.arrived;
    return async () => held.release();
  },
};

/** The rows between the last two rules: what is in the box, to the letter. */
function boxOf(screen: string): string {
  const rows = screen.split('\n');
  const rules = rows.flatMap((row, at) => (row.startsWith('────') ? [at] : []));
  return rows.slice((rules.at(-2) ?? 0) + 1, rules.at(-1)).join('\n');
}
