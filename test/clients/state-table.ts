// Drives one real client through the whole table of states, in one way of setting it up. The truth comes from the model
// server, the keys and the screen, never from the files Watchkeeper reads.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hookScript, quoted } from '../../src/clients/claude-code/hook-script.ts';
import { type Agent, type LaunchOptions, launchAgent } from './agent.ts';
import { limitHeaders } from './limit-headers.ts';
import { errorBody, type Step } from './model-script.ts';
import type { Scenario } from './scenario.ts';
import type { Sampler, Truth } from './truth.ts';

export interface Setup {
  /** Begins the names of its agents. */
  name: string;
  hooks: boolean;
  statusLine: boolean;
  registry: boolean;
  shell: 'direct' | 'bash' | 'sh';
  mode: 'default' | 'auto';
}

export function describeSetup({ hooks, statusLine, registry, shell, mode }: Setup): string {
  const word = (on: boolean, what: string) => `${on ? '' : 'no '}${what}`;
  return [
    word(registry, 'registry'),
    word(hooks, 'hooks'),
    word(statusLine, 'status line'),
    shell,
    mode === 'default' ? 'manual' : mode,
  ].join(', ');
}

/** Long enough that a state not seen within two seconds is missed. */
const dwellMs = 2_600;

export async function runStateTable(s: Scenario, sampler: Sampler, setup: Setup): Promise<void> {
  await Promise.all([mainTable(s, sampler, setup), apiStall(s, sampler, setup)]);
  await Promise.all([planDialog(s, sampler, setup), trustScreen(s, sampler, setup), usageLimit(s, sampler, setup)]);
}

const stepMs = 20_000;

async function arrived(step: Step): Promise<number> {
  return (await inTime(step.arrived, 'a request')).arrivedAt;
}

async function ended(step: Step): Promise<number> {
  return (await inTime(step.ended, 'the end of a reply')).endedAt ?? 0;
}

function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  const late = sleep(stepMs, null, { ref: false }).then(() => {
    throw new Error(`not within ${stepMs} ms: ${what}`);
  });
  return Promise.race([promise, late]);
}

async function launch(s: Scenario, setup: Setup, session: string, more: Partial<LaunchOptions> = {}): Promise<Agent> {
  const configDir = path.join(s.dir, session, 'config');
  mkdirSync(configDir, { recursive: true });
  // A file where the client wants to keep its registry: it goes on without one.
  if (!setup.registry) writeFileSync(path.join(configDir, 'sessions'), '');
  return launchAgent({
    scenario: s,
    session,
    shell: setup.shell,
    permissionMode: setup.mode,
    configDir,
    extraSettings: { permissions: { allow: ['Bash'], ask: ['Bash(touch:*)'] }, ...statusLineAlone(s, setup) },
    prepared: () => installHooks(s, setup, configDir),
    ...more,
  });
}

async function installHooks(s: Scenario, setup: Setup, configDir: string): Promise<void> {
  if (!setup.hooks) return;
  const words = ['init', '--config-dir', configDir, ...(setup.statusLine ? ['--statusline'] : [])];
  const done = await s.watchkeeper(words);
  if (done.code !== 0) throw new Error(`init ended with ${done.code}: ${done.stderr}`);
}

/** `init` knows no status line without hooks. */
function statusLineAlone(s: Scenario, setup: Setup): Record<string, unknown> {
  if (!setup.statusLine || setup.hooks) return {};
  const script = path.join(s.dir, 'claude-code.sh');
  writeFileSync(script, hookScript(path.join(s.watchkeeperHome, 'inbox')), { mode: 0o700 });
  return { statusLine: { type: 'command', command: `${quoted(script)} statusline` } };
}

async function ready(agent: Agent, truth: Truth): Promise<void> {
  await agent.waitForScreen(/❯\u00a0/, 20_000);
  truth.is('idle');
  await sleep(dwellMs);
}

async function mainTable(s: Scenario, sampler: Sampler, setup: Setup): Promise<void> {
  const truth = sampler.follow(`${setup.name}-main`);
  const agent = await launch(s, setup, `${setup.name}-main`);
  await ready(agent, truth);
  await thinkingAndTool(agent, truth);
  await dialogs(agent, truth);
  await background(agent, truth);
  await troubles(agent, truth, sampler);
  await compactAndClear(s, agent, truth, sampler);
  const exiting = agent.exit();
  truth.is(null);
  await exiting;
  truth.is('ended');
  await sleep(dwellMs);
}

async function thinkingAndTool(agent: Agent, truth: Truth): Promise<void> {
  const thinking = agent.model.hold();
  await agent.type('think about it');
  truth.is('working/thinking', await arrived(thinking));
  await sleep(dwellMs);
  thinking.release();
  truth.is('idle', await ended(thinking));
  await sleep(dwellMs);

  agent.model.tool('Bash', { command: 'date +%s%3N > t1; sleep 4; date +%s%3N > t2', description: 'wait' });
  const report = agent.model.reply('Waited.');
  truth.is(null);
  await agent.type('run a tool');
  truth.is('working/tool Bash', await stamp(agent, 't1'));
  truth.is('working/thinking', await stamp(agent, 't2'));
  truth.is('idle', await ended(report));
  await sleep(dwellMs);
}

/** The time the agent's own command wrote down. */
async function stamp(agent: Agent, name: string): Promise<number> {
  const file = path.join(agent.folder.project, name);
  for (let tries = 0; tries < 400; tries += 1) {
    const time = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
    if (time > 0) return time;
    await sleep(25);
  }
  throw new Error(`${name} was never written`);
}

async function dialogs(agent: Agent, truth: Truth): Promise<void> {
  agent.model.tool('Bash', { command: 'touch made; date +%s%3N > t3; sleep 4', description: 'make a file' });
  const made = agent.model.reply('Made.');
  truth.is(null);
  await agent.type('make a file');
  await agent.waitForScreen(/Do you want to/);
  truth.is('waiting/permission');
  await sleep(dwellMs);
  truth.is(null);
  await agent.keys('Enter');
  truth.is('working/tool Bash', await stamp(agent, 't3'));
  truth.is('idle', await ended(made));
  await sleep(dwellMs);

  agent.model.question('Which colour?', ['red', 'blue']);
  const answered = agent.model.reply('Red it is.');
  truth.is(null);
  await agent.type('ask me something');
  await agent.waitForScreen(/Which colour/);
  truth.is('waiting/question');
  await sleep(dwellMs);
  truth.is(null);
  await agent.keys('Enter');
  truth.is('idle', await ended(answered));
  await sleep(dwellMs);
}

/** Says yes to whatever is asked until it is done. In auto mode the client finds no service to ask, and "No" comes first. */
async function approvedUntil(agent: Agent, done: Promise<unknown>): Promise<void> {
  let over = false;
  const finished = done.finally(() => {
    over = true;
  });
  while (!over) {
    await Promise.race([finished, sleep(700)]);
    const screen = over ? '' : await agent.screen();
    if (/Enter to stay in auto mode|❯ 1\. Yes/.test(screen)) await agent.keys('Enter');
    else if (/❯ No\n\s+Yes/.test(screen)) await agent.keys('Down', 'Enter');
  }
  await finished;
}

async function background(agent: Agent, truth: Truth): Promise<void> {
  const child = agent.model.subagent.hold();
  agent.model.tool('Agent', { description: 'look', prompt: 'look around', subagent_type: 'general-purpose' });
  const started = agent.model.reply('Agent started.');
  await agent.type('start an agent');
  truth.is(null);
  await approvedUntil(agent, arrived(child));
  truth.is('working/subagent', await ended(started));
  await sleep(dwellMs + 1_000);
  truth.is(null);
  const told = agent.model.reply('It looked around.');
  child.release();
  truth.is('idle', await ended(told));
  await sleep(dwellMs);

  agent.model.tool('Bash', { command: 'sleep 8', description: 'wait', run_in_background: true });
  const waiting = agent.model.reply('It waits in the background.');
  truth.is(null);
  await agent.type('wait in the background');
  truth.is('idle', await ended(waiting));
  await sleep(dwellMs);
  truth.is(null);
  const over = agent.model.reply('It is over.');
  truth.is('idle', await ended(over));
  await sleep(dwellMs);
}

async function troubles(agent: Agent, truth: Truth, sampler: Sampler): Promise<void> {
  agent.model.error(500, errorBody('api_error', 'Internal server error'), { times: 4 });
  const recovered = agent.model.hold();
  await agent.type('work through errors');
  truth.is(null);
  await turns(agent, 'work through errors', 2);
  truth.is('retrying');
  await arrived(recovered);
  truth.is(null);
  await sleep(500);
  recovered.release();
  truth.is('idle', await ended(recovered));
  await sleep(dwellMs);

  const overloaded = agent.model.overloaded(3);
  truth.is(null);
  await agent.type('work when overloaded');
  truth.is('idle', await ended(overloaded));
  await turnEnded(sampler, truth, 'failed');
  await sleep(dwellMs);

  const long = agent.model.hold();
  await agent.type('talk for long');
  truth.is('working/thinking', await arrived(long));
  await agent.waitForScreen(/I am thinking about it/);
  await sleep(dwellMs);
  await agent.keys('Escape');
  truth.is('idle');
  await turnEnded(sampler, truth, 'interrupted');
  await sleep(dwellMs);
}

async function turns(agent: Agent, prompt: string, count: number): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (agent.model.turns.filter((turn) => turn.prompt.includes(prompt)).length >= count) return;
    await sleep(25);
  }
  throw new Error(`"${prompt}" was not asked ${count} times`);
}

async function turnEnded(sampler: Sampler, truth: Truth, end: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await sampler.agent(truth.agent))?.last_turn === end) return;
    await sleep(50);
  }
  throw new Error(`last turn ${(await sampler.agent(truth.agent))?.last_turn}, not ${end}`);
}

async function compactAndClear(s: Scenario, agent: Agent, truth: Truth, sampler: Sampler): Promise<void> {
  const compaction = agent.model.compaction.hold();
  await agent.type('/compact');
  truth.is('compacting', await arrived(compaction));
  await sleep(dwellMs);
  compaction.release();
  truth.is('idle', await ended(compaction));
  await sleep(dwellMs);

  const before = (await sampler.agent(truth.agent))?.session_id;
  await agent.type('/clear');
  truth.is('idle');
  const said = agent.model.reply('New.');
  await sleep(dwellMs);
  await agent.type('hello again');
  truth.is(null);
  truth.is('idle', await ended(said));
  await s.until('a new session', async () => (await sampler.agent(truth.agent))?.session_id !== before, 4_000);
  await sleep(dwellMs);
}

/** The client says that it waits for the service once that has been silent for 45 seconds. */
async function apiStall(s: Scenario, sampler: Sampler, setup: Setup): Promise<void> {
  const truth = sampler.follow(`${setup.name}-stall`);
  const agent = await launch(s, setup, `${setup.name}-stall`);
  await ready(agent, truth);
  const silent = agent.model.silent();
  await agent.type('say something');
  truth.is('working/thinking', await arrived(silent));
  await agent.waitForScreen(/Waiting for API response/, 60_000);
  truth.is('working/api-stall');
  await sleep(dwellMs);
  truth.is('ended');
  agent.kill('SIGKILL');
  await sleep(dwellMs);
}

async function planDialog(s: Scenario, sampler: Sampler, setup: Setup): Promise<void> {
  const truth = sampler.follow(`${setup.name}-plan`);
  const agent = await launch(s, setup, `${setup.name}-plan`, { permissionMode: 'plan' });
  await ready(agent, truth);
  agent.model.tool('ExitPlanMode', { plan: '1. Do it.' });
  truth.is(null);
  await agent.type('make a plan');
  await agent.waitForScreen(/Exit plan mode\?|Would you like to proceed/);
  truth.is('waiting/question');
  await sleep(dwellMs);
  truth.is('ended');
  agent.kill('SIGKILL');
  await sleep(dwellMs);
}

async function trustScreen(s: Scenario, sampler: Sampler, setup: Setup): Promise<void> {
  const truth = sampler.follow(`${setup.name}-trust`);
  const agent = await launch(s, setup, `${setup.name}-trust`, { trust: false });
  await agent.waitForScreen(/trust/, 20_000);
  truth.is('waiting/setup');
  await sleep(dwellMs + 2_000);
  truth.is('ended');
  agent.kill('SIGKILL');
  await sleep(dwellMs);
}

async function usageLimit(s: Scenario, sampler: Sampler, setup: Setup): Promise<void> {
  const truth = sampler.follow(`${setup.name}-limit`);
  // As a subscriber: only then does the client read the limit's headers.
  const env = { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'dummy' };
  const agent = await launch(s, setup, `${setup.name}-limit`, { env });
  await ready(agent, truth);
  const resets = Math.floor(Date.now() / 1000) + 3_600;
  const limit = agent.model.error(429, errorBody('rate_limit_error', 'limit'), { headers: limitHeaders(resets) });
  truth.is(null);
  await agent.type('work');
  truth.is('limited', await ended(limit));
  await sleep(dwellMs);
  truth.is('ended');
  agent.kill('SIGKILL');
  await sleep(dwellMs);
}
