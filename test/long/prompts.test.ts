// Two hundred prompts through the CLI alone, in every state in which an agent can be spoken to.
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { type Agent, type LaunchOptions, launchAgent } from '../clients/agent.ts';
import { emptyBox, expectExact, say } from '../clients/prompting.ts';
import type { Scenario } from '../clients/scenario.ts';
import { until } from '../clients/until.ts';
import { type Watching, watched } from '../clients/watching.ts';
import { oneLine, severalLines } from './prompt-payloads.ts';
import { refuseEverywhere } from './prompt-refusals.ts';
import { PromptReport } from './prompt-report.ts';

const report = new PromptReport();
afterAll(() => report.write());

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

interface Lane {
  name: string;
  shell: NonNullable<LaunchOptions['shell']>;
  permissionMode: 'default' | 'auto';
  sends: number;
}

/** Two at a time, so that the time to the proof is not that of a machine with six busy clients. */
const lanes: [Lane, Lane][] = [
  [
    { name: 'direct-manual-ps', shell: 'direct', permissionMode: 'default', sends: 40 },
    { name: 'bash-auto-ps', shell: 'bash', permissionMode: 'auto', sends: 32 },
  ],
  [
    { name: 'direct-auto-ps', shell: 'direct', permissionMode: 'auto', sends: 32 },
    { name: 'sh-manual-ps', shell: 'sh', permissionMode: 'default', sends: 32 },
  ],
  [
    { name: 'bash-manual-ps', shell: 'bash', permissionMode: 'default', sends: 32 },
    { name: 'sh-auto-ps', shell: 'sh', permissionMode: 'auto', sends: 32 },
  ],
];

const drafts = [
  'a',
  'my half typed thought',
  'two\nrows',
  'grüße 日本 🎉',
  'a\nlong\ndraft\nof\nfive',
  'y'.repeat(300),
];

describe('a prompt arrives exactly where it should', () => {
  test(
    'two hundred times, in every state: once, byte for byte, with the draft restored',
    watched(async (s, watch) => {
      let first = 0;
      for (const pair of lanes) {
        await Promise.all(
          pair.map((lane) => {
            const from = first;
            first += lane.sends;
            return converse(s, watch, lane, from);
          }),
        );
      }
      const totals = report.totals;
      expect(totals.wrong).toEqual([]);
      expect(totals).toMatchObject({ sent: 200, exact: totals.taken });
      expect(totals.taken / totals.sent).toBeGreaterThanOrEqual(0.95);
      expect(totals.drafts.back).toBe(totals.drafts.there);
      expect(totals.medianMs).toBeLessThan(1_000);
    }),
  );

  test(
    'and nowhere else: refused in every state in which it could do harm, nothing typed',
    watched((s, watch) => refuseEverywhere(s, watch, report)),
  );
});

/** One agent, spoken to again and again, in one state after the other. */
async function converse(s: Scenario, watch: Watching, lane: Lane, first: number): Promise<void> {
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
    const leave = await enter[state](s, agent, n);
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
const enter: Record<State, (s: Scenario, agent: Agent, n: number) => Promise<Leave>> = {
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
  async 'draft present'(_s, agent, n) {
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
      report.draft(await until('the draft back in the box', back, 3_000).catch(() => false));
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
