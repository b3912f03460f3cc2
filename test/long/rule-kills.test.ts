// The daemon killed at every command of tmux and every row of what rules say, of each kind, counted at the model.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { type Agent, launchAgent } from '../clients/agent.ts';
import { Daemon, type Killing, killAfter, killBefore } from '../clients/killing.ts';
import { prompts, tagsOf, timesEver } from '../clients/prompting.ts';
import { type Scenario, scenario } from '../clients/scenario.ts';

type Kill = (s: Scenario, daemon: Daemon) => Promise<Killing>;

const before =
  (...statements: string[]): Kill =>
  async (s, daemon) =>
    killBefore(s, daemon, statements);
const intent = 'INSERT INTO actions ';
const outcome = 'INSERT INTO action_outcomes';

/** What is on record or at the model when the daemon dies. `told`: the ledger has it, but it did not arrive. */
type Standing = 'nothing' | 'told' | 'arrived';

const moments: { at: string; kill: Kill; has: Standing }[] = [
  { at: 'before the row of the intent', kill: before(intent), has: 'nothing' },
  { at: 'before the intent is committed', kill: before(intent, 'COMMIT'), has: 'nothing' },
  { at: 'after the buffer is loaded', kill: (s, daemon) => killAfter(s, daemon, 'load-buffer'), has: 'told' },
  { at: 'after the paste', kill: (s, daemon) => killAfter(s, daemon, 'paste-buffer'), has: 'told' },
  { at: 'after Enter', kill: (s, daemon) => killAfter(s, daemon, 'send-keys'), has: 'arrived' },
  { at: 'before the row of the outcome', kill: before(intent, outcome), has: 'arrived' },
  { at: 'before the outcome is committed', kill: before(intent, outcome, 'COMMIT'), has: 'arrived' },
];
const momentsOfTroubles: typeof moments = [
  { at: 'before the row of the trouble', kill: before('INSERT INTO incidents'), has: 'nothing' },
  ...moments,
  { at: 'before the trouble counts it', kill: before(intent, outcome, 'INSERT INTO incidents'), has: 'arrived' },
];

/** Brings the trouble about; what it ends in is called when the kill is laid: from then on only the daemon types. */
type Begin = (s: Scenario, agent: Agent) => Promise<{ go: () => unknown; release?: () => void }>;

interface Kind {
  what: string;
  words: RegExp;
  settings?: Record<string, unknown>;
  begin: Begin;
  /** Work stands still: what did not arrive is said again. */
  standsStill?: true;
}

const full = /context window is \d+% full/;
const seventyFour = { input: 10, cacheRead: 730_000, cacheCreate: 9_990 };
const project = (agent: Agent) => agent.session.replace(/-ps$/, '');

async function track(s: Scenario, agent: Agent, ...more: string[]): Promise<void> {
  const words = ['--project', project(agent), '--task-id', 'task-1', '--agent', agent.session];
  const added = await s.watchkeeper(['spawn-track', 'add', ...words, ...more]);
  expect(added.code, added.stderr).toBe(0);
}

const quietOutput: Begin = async (s, agent) => {
  const file = path.join(s.dir, `${agent.session}.log`);
  writeFileSync(file, 'begun\n');
  return { go: () => track(s, agent, '--output', file) };
};

/** Works, and its next requests fail. */
const failing =
  (usage: object): Begin =>
  async (_s, agent) => {
    const tools = [{ name: 'Bash', input: { command: 'true', description: 'nothing' } }];
    agent.model.usage(usage);
    const turn = agent.model.hold('I begin.', 'Now.', { tools });
    await agent.type('work');
    await turn.arrived;
    agent.model.overloaded(3);
    return { go: () => turn.release() };
  };

const kinds: Kind[] = [
  { what: 'continue', words: /Please continue with the work/, begin: failing({}), standsStill: true },
  {
    what: 'continue with a note',
    words: /Please continue with the work/,
    begin: failing(seventyFour),
    standsStill: true,
  },
  {
    what: 'stalled',
    words: /no sign of progress/,
    settings: { stall: { thinkingMinutes: 0.1 } },
    async begin(_s, agent) {
      const step = agent.model.silent();
      await agent.type('think');
      await step.arrived;
      return { go: () => {}, release: () => step.release() };
    },
  },
  {
    what: 'context-high',
    words: full,
    async begin(_s, agent) {
      agent.model.usage(seventyFour);
      const turn = agent.model.hold();
      await agent.type('use the context');
      await turn.arrived;
      return { go: () => turn.release() };
    },
  },
  {
    what: 'spawn-stalled',
    words: /has not produced output/,
    settings: { spawn: { stallMinutes: 0.1, abandonMinutes: 60 } },
    begin: quietOutput,
  },
  {
    what: 'spawn-abandoned',
    words: /counts as abandoned/,
    settings: { spawn: { stallMinutes: 60, abandonMinutes: 0.1 } },
    begin: quietOutput,
  },
  {
    what: 'spawn-failed',
    words: /has failed/,
    async begin(s, agent) {
      await track(s, agent);
      const failed = ['spawn-track', 'fail', project(agent), 'task-1', '--reason', 'given up'];
      return { go: () => s.watchkeeper(failed) };
    },
  },
];

const intervalMs = 3_000;
const common = {
  tickSeconds: 0.5,
  prompt: { minIntervalMinutes: intervalMs / 60_000, humanQuietSeconds: 0.5 },
  agents: [{ match: '*-ps', authority: 'nudge' }],
  // One agent after the other is ended here: each is told by itself.
  judging: { massCount: 1_000 },
};

async function started(s: Scenario, settings: Record<string, unknown> = {}): Promise<Daemon> {
  const file = path.join(s.home, 'config.yaml');
  writeFileSync(file, JSON.stringify({ ...common, ...settings }));
  const daemon = new Daemon(s, { WATCHKEEPER_CONFIG: file });
  await daemon.up();
  return daemon;
}

async function launched(s: Scenario, daemon: Daemon, session: string, n: number): Promise<Agent> {
  const shell = (['bash', 'sh', 'direct'] as const)[n % 3] ?? 'bash';
  const agent = await launchAgent({ scenario: s, session, shell, extraSettings: { permissions: { allow: ['Bash'] } } });
  await agent.waitReady();
  await daemon.knows(session);
  return agent;
}

/** With what is told of its end: no row of it comes into the next kill. */
async function ended(s: Scenario, agent: Agent): Promise<void> {
  agent.kill('SIGKILL');
  const isTold = async () => {
    const { items } = (await s.watchkeeper(['audit', agent.session, '--json'])).json<{
      items: { trigger: string; outcome: string | null }[];
    }>();
    return items.some(({ trigger, outcome }) => trigger === 'rule:ended-unexpectedly' && outcome !== null);
  };
  await until(`the end of ${agent.session} told`, isTold);
}

/** Until everything that would be said once more has been said. */
async function pass(ms: number): Promise<void> {
  const fromMs = Date.now();
  await until('a while later', () => Date.now() - fromMs > ms, ms + 5_000);
}

test.each(kinds.map((kind) => [kind.what, kind] as const))(
  '%s: killed at every step, it is said once, and what stood still is set going',
  (_what, kind) =>
    scenario(async (s) => {
      const daemon = await started(s, kind.settings);
      for (const [n, { at, kill, has }] of momentsOfTroubles.entries()) {
        const agent = await launched(s, daemon, `kill-${n}-ps`, n);
        const { go, release } = await kind.begin(s, agent);
        const killing = await kill(s, daemon);
        await go();
        await killing.done(60_000);
        await daemon.up();
        await pass(2 * intervalMs);
        release?.();
        await pass(2 * intervalMs);
        const said = [...tagsOf(agent, kind.words)];
        expect(said, at).toHaveLength(has === 'told' && kind.standsStill !== true ? 0 : 1);
        expect(
          said.map((tag) => timesEver(agent, tag)),
          at,
        ).toEqual(said.map(() => 1));
        expect(tagsOf(agent, full).size, at).toBeLessThanOrEqual(1);
        await ended(s, agent);
      }
    })(),
);

test('a question about hidden work: killed at every step, it comes at its interval', () =>
  scenario(async (s) => {
    const everyMs = 6_000;
    const spawn = { stallMinutes: 60, abandonMinutes: 60, progressMinutes: everyMs / 60_000, progress: 'always' };
    const daemon = await started(s, { spawn });
    for (const [n, { at, kill }] of moments.entries()) {
      const agent = await launched(s, daemon, `kill-${n}-ps`, n);
      await track(s, agent);
      await (await kill(s, daemon)).done(60_000);
      await daemon.up();
      await pass(3 * everyMs);
      const rows = (await prompts(s, agent.session)).filter(({ outcome }) => outcome !== 'refused');
      const times = rows.map((row) => Date.parse(row.at));
      const gaps = times.slice(1).map((time, m) => time - (times[m] ?? 0));
      expect(gaps.length, at).toBeGreaterThan(0);
      // It counts from its outcome, which comes a moment after its intent.
      expect(Math.min(...gaps), at).toBeGreaterThanOrEqual(everyMs - 500);
      await s.watchkeeper(['spawn-track', 'done', project(agent), 'task-1']);
      await ended(s, agent);
    }
  })());
