// Kills in the middle of a delivery: the agent, with a shell beneath that must not execute the text, and the daemon.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { commandLineOf } from '../../src/conform/processes.ts';
import { until } from '../../src/conform/until.ts';
import { type Agent, launchAgent } from '../clients/agent.ts';
import { Daemon, databaseProcesses, killAfter, type TmuxCommand } from '../clients/killing.ts';
import {
  emptyBox,
  expectExact,
  type PromptItem,
  prompts,
  type Said,
  say,
  timesEver,
  timesExact,
  timesTagged,
} from '../clients/prompting.ts';
import { type Scenario, scenario } from '../clients/scenario.ts';
import { type Watching, watched } from '../clients/watching.ts';

describe('nothing is typed into a shell', () => {
  test.each(['bash', 'sh'] as const)(
    'the agent killed at 50 instants of a delivery, %s beneath: it executes nothing',
    (shell) =>
      watched(async (s, watch) => {
        const rounds = await killAgents(s, watch, shell, 50);
        const counts = new Map<string, number>();
        for (const { step } of rounds) counts.set(step, (counts.get(step) ?? 0) + 1);
        process.stderr.write(
          `agent over ${shell} killed: ${[...counts].map(([step, n]) => `${n} ${step}`).join(', ')}\n`,
        );
        expect(rounds).toHaveLength(50);
        expect(rounds.filter((round) => round.executed)).toEqual([]);
        // The kills were spread over the whole delivery: before it, in the middle, and after the prompt was taken.
        for (const outcome of ['refused', 'uncertain', 'confirmed'])
          expect(
            [...counts.keys()].filter((step) => step.startsWith(outcome)),
            outcome,
          ).not.toEqual([]);
      })(),
  );
});

interface Round {
  step: string;
  executed: boolean;
}

/** In the same pane again and again, each time with a fresh shell and a fresh client. */
async function killAgents(s: Scenario, watch: Watching, shell: 'bash' | 'sh', times: number): Promise<Round[]> {
  const name = `${shell}-ps`;
  const agent = await launchAgent({ scenario: s, session: name, shell });
  await agent.waitReady();
  const command = commandLineOf(agent.pid() ?? 0);
  const rounds: Round[] = [];
  for (let n = 0; n < times; n += 1) {
    if (n > 0) await restartClient(s, agent, shell, command);
    const pid = agent.pid();
    await until('the client known', () => watch.said.some(({ kind, data }) => kind === 'agent' && data.pid === pid));
    const canary = path.join(s.dir, `canary-${shell}-${n}`);
    const kill = kills[n % kills.length] ?? killAnyTime;
    const said = await kill(s, agent, canary, () => say(s, name, `touch ${canary}`));
    await until('the client gone', () => agent.pid() === null);
    await sleep(200);
    const arrived = timesEver(agent, said.tag);
    expect(arrived).toBeLessThanOrEqual(1);
    if (said.outcome === 'refused') expect(arrived, 'refused, and yet at the model').toBe(0);
    const line = /^(bash-[\d.]+#|#) *touch/m.test(await agent.screen()) ? ', on the line of the shell' : '';
    // What the client had written down by then is proof enough; less would be a prompt taken and not known.
    const recorded = agent.transcripts().some(({ records }) => JSON.stringify(records).includes(`[${said.tag}]`));
    if (recorded) expect(said, 'recorded by the client').toMatchObject({ proof: 'transcript' });
    const at = said.outcome === 'uncertain' ? ` (${arrived} at the model)` : '';
    rounds.push({ step: [said.outcome, said.reason].join(' ').trim() + at + line, executed: existsSync(canary) });
  }
  for (const item of await prompts(s, name)) {
    const arrived = timesEver(agent, item.intent.tag);
    expect(item.outcome, `${item.intent.tag} has an outcome`).not.toBeNull();
    if (arrived > 0) expect(['confirmed', 'queued', 'uncertain']).toContain(item.outcome);
  }
  return rounds;
}

type Kill = (s: Scenario, agent: Agent, canary: string, speak: () => Promise<Said>) => Promise<Said>;

/** Where a text could reach the shell: just before the paste, just after it, before Enter, at any time, towards the end. */
const kills: Kill[] = [
  killAtCommand('load-buffer'),
  killAtCommand('paste-buffer'),
  async (_s, agent, canary, speak) => {
    const saying = speak();
    await until('the text in the box', async () => (await agent.screen()).includes(canary));
    await sleep(Math.random() * 60);
    agent.kill('SIGKILL');
    return saying;
  },
  killAnyTime,
  async (s, agent, _canary, speak) => {
    const saying = speak();
    await reachDaemon(s);
    await sleep(400 + Math.random() * 1_100);
    agent.kill('SIGKILL');
    return saying;
  },
];

async function killAnyTime(s: Scenario, agent: Agent, _canary: string, speak: () => Promise<Said>): Promise<Said> {
  const saying = speak();
  await reachDaemon(s);
  await sleep(Math.random() * 400);
  agent.kill('SIGKILL');
  return saying;
}

/** tmux itself kills the agent after the command, before the daemon hears of it. */
function killAtCommand(command: 'load-buffer' | 'paste-buffer'): Kill {
  return async (s, agent, _canary, speak) => {
    await s.tmux.run('set-hook', '-g', `after-${command}`, `run-shell "kill -9 ${agent.pid()}"`);
    const said = await speak();
    await s.tmux.run('set-hook', '-gu', `after-${command}`);
    return said;
  };
}

/** Another command begun now reaches the daemon when the prompt does, for which it asks the same first. */
async function reachDaemon(s: Scenario): Promise<void> {
  await s.watchkeeper(['status', '--json']);
}

async function restartClient(s: Scenario, agent: Agent, shell: 'bash' | 'sh', command: string): Promise<void> {
  const pane = agent.terminal.pane ?? '';
  await s.tmux.run('respawn-pane', '-k', '-t', pane, ...(shell === 'bash' ? ['bash', '--norc'] : ['sh']));
  agent.terminal.rootPid = Number(await s.tmux.run('display-message', '-p', '-t', pane, '#{pane_pid}'));
  await agent.waitForScreen(/[#$] *$/m);
  await agent.terminal.paste(command);
  await agent.keys('Enter');
  await until('the client started', () => agent.pid() !== null);
  await agent.waitReady();
}

describe('a prompt is submitted at most once per intent', () => {
  test(
    'the daemon killed at every step and at 30 random instants: none twice, none lost without a word',
    scenario(async (s) => {
      const daemon = new Daemon(s);
      await daemon.up();
      const agent = await launchAgent({ scenario: s, session: 'step-ps' });
      await agent.waitReady();
      await daemon.knows('step-ps');
      const steps: [string, () => Promise<void>][] = [
        ['intent committed', () => atIntent(s, daemon)],
        ['stash', () => atStash(s, daemon, agent)],
        ['buffer loaded', () => atCommand(s, daemon, 'load-buffer')],
        ['pasted', () => atCommand(s, daemon, 'paste-buffer')],
        ['Enter pressed', () => atCommand(s, daemon, 'send-keys')],
        ['proof seen, outcome not written', () => atProof(s, daemon, agent)],
      ];
      const told: string[] = [];
      for (const [step, kill] of steps) {
        await kill();
        await daemon.up();
        const item = await settled(s);
        told.push(`${step}: ${describeItem(item)}, at the model ${timesEver(agent, item.intent.tag)} times`);
        expectTruth(agent, item);
        await makeReady(agent, step === 'stash' ? 'a draft of mine' : null);
        await daemon.knows('step-ps');
      }
      for (let n = 0; n < 30; n += 1) {
        const saying = s.watchkeeper(['prompt', 'step-ps', '-', '--json'], { stdin: `random instant ${n}` });
        await reachDaemon(s);
        await sleep(Math.random() * 500);
        daemon.kill();
        await saying;
        await daemon.up();
        await makeReady(agent, null);
        await daemon.knows('step-ps');
      }
      await until(
        'every prompt with its word',
        async () => (await prompts(s)).every((item) => item.outcome !== null),
        30_000,
      );
      // A late proof may follow the first word.
      await sleep(1_000);
      const items = await prompts(s);
      for (const item of items) expectTruth(agent, item);
      const random = new Map<string, number>();
      for (const item of items.slice(steps.length)) {
        const what = describeItem(item);
        random.set(what, (random.get(what) ?? 0) + 1);
      }
      told.push(`30 random instants: ${[...random].map(([what, count]) => `${count} ${what}`).join(', ')}`);
      process.stderr.write(`daemon killed\n  ${told.join('\n  ')}\n`);
      const enter = items[4];
      expect(enter && describeItem(enter)).toMatch(/^confirmed/);
      expect((await s.tmux.run('list-buffers')).trim()).toBe('');
    }),
  );
});

function describeItem(item: PromptItem): string {
  return item.outcomes
    .filter(({ outcome }) => outcome !== 'answered')
    .map(({ outcome, reason }) => (reason === null ? outcome : `${outcome} (${reason})`))
    .join(', then ');
}

/** What the ledger says in the end has to be what the model server saw. */
function expectTruth(agent: Agent, item: PromptItem): void {
  const arrived = timesEver(agent, item.intent.tag);
  const words = item.outcomes.map(({ outcome }) => outcome);
  const proved = words.some((word) => word === 'confirmed' || word === 'queued');
  expect(arrived, `${item.intent.text}: ${words}`).toBeLessThanOrEqual(1);
  expect(words, `${item.intent.text} has a word`).not.toEqual([]);
  expect(proved, `${item.intent.text}: ${words}, at the model ${arrived} times`).toBe(arrived === 1);
}

const text = 'said while the daemon dies';
const speak = (s: Scenario) => s.watchkeeper(['prompt', 'step-ps', '-', '--json'], { stdin: text });

/** The delivery cannot go on, because tmux does not answer; the intent is on record by then. */
async function atIntent(s: Scenario, daemon: Daemon): Promise<void> {
  const server = Number(await s.tmux.run('display-message', '-p', '#{pid}'));
  const saying = speak(s);
  await reachDaemon(s);
  process.kill(server, 'SIGSTOP');
  try {
    await until('the intent on record', async () => (await prompts(s)).length === 1);
  } finally {
    daemon.kill();
    process.kill(server, 'SIGCONT');
  }
  await saying;
  await daemon.gone();
}

async function atCommand(s: Scenario, daemon: Daemon, command: TmuxCommand): Promise<void> {
  const killing = await killAfter(s, daemon, command);
  await speak(s);
  await killing.done();
}

async function atStash(s: Scenario, daemon: Daemon, agent: Agent): Promise<void> {
  await agent.draft('a draft of mine');
  await atCommand(s, daemon, 'send-keys');
}

/** The database stands still from Enter on, so that the proof is seen but the outcome cannot be written. */
async function atProof(s: Scenario, daemon: Daemon, agent: Agent): Promise<void> {
  const turns = agent.model.turns.length;
  const saying = speak(s);
  await until('the request at the model', () => agent.model.turns.length > turns);
  const database = databaseProcesses(s);
  for (const pid of database) process.kill(pid, 'SIGSTOP');
  try {
    await until('the record of the client', () =>
      agent.transcripts().some(({ records }) => JSON.stringify(records.slice(-12)).includes(text)),
    );
    await sleep(500);
  } finally {
    daemon.kill();
    for (const pid of database) process.kill(pid, 'SIGCONT');
  }
  await saying;
  await daemon.gone();
}

async function settled(s: Scenario): Promise<PromptItem> {
  return until(
    'the prompt with its word',
    async () => {
      const item = (await prompts(s)).at(-1);
      return item !== undefined && item.outcome !== null ? item : null;
    },
    20_000,
  );
}

/** As a person would: takes out what was left in the box, and takes back the draft that was put aside. */
async function makeReady(agent: Agent, draft: string | null): Promise<void> {
  await agent.waitStatus('idle');
  await emptyBox(agent);
  if (!/› stashed/.test(await agent.screen()))
    return expect(draft === null || !(await agent.screen()).includes(draft)).toBe(true);
  await agent.keys('C-s');
  if (draft !== null) await agent.waitForScreen(new RegExp(`❯\\u00a0${draft}`));
  await emptyBox(agent);
}

describe('twenty agents at once', () => {
  test(
    'every prompt comes to its own agent, exactly',
    watched(async (s) => {
      const agents: Agent[] = [];
      for (let batch = 0; batch < 5; batch += 1) {
        const names = Array.from({ length: 4 }, (_, n) => `many-${batch * 4 + n}-ps`);
        const shells = ['direct', 'bash', 'sh', 'direct'] as const;
        const started = await Promise.all(
          names.map((session, n) => launchAgent({ scenario: s, session, shell: shells[n] ?? 'direct' })),
        );
        for (const agent of started) await agent.waitReady(60_000);
        agents.push(...started);
      }
      const known = async () => {
        const status = (await s.watchkeeper(['status', '--json'])).json<{ agents: { state: string }[] }>();
        return status.agents.filter(({ state }) => state === 'idle').length === agents.length;
      };
      await until('twenty idle agents', known, 30_000);
      const spoken = await Promise.all(
        agents.map(async (agent, n) => {
          const words = `words for agent ${n} alone `.padEnd(60 + n * 40, `only ${n} `).trimEnd();
          return { agent, words, said: await say(s, agent.session, words) };
        }),
      );
      for (const { agent, words, said } of spoken) {
        expect(said, agent.session).toMatchObject({ outcome: 'confirmed', code: 0 });
        await expectExact(agent, words, said.tag);
        for (const other of agents.filter((candidate) => candidate !== agent))
          expect(timesTagged(other, said.tag)).toBe(0);
        expect(agents.reduce((sum, each) => sum + timesExact(each, words, said.tag), 0)).toBe(1);
      }
      const proofs = spoken.map(({ said }) => said.proof_ms ?? 0).sort((a, b) => a - b);
      process.stderr.write(`twenty at once: proof median ${proofs[10]} ms, slowest ${proofs.at(-1)} ms\n`);
    }),
  );
});
