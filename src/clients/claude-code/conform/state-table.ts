// Drives one real client through the whole table of states, in one way of setting it up. The truth comes from the model
// server, the keys and the screen, never from the files Watchkeeper reads.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stage as AnyStage, Setup } from '../../../conform/setup.ts';
import type { Sampler, Truth } from '../../../conform/truth.ts';
import { DeadlineMissed, until } from '../../../conform/until.ts';
import type { Unplayed } from '../../client.ts';
import type { ClientAgent } from './agent.ts';
import type { FakeModel } from './fake-model.ts';
import { launch } from './launch.ts';
import { limitHeaders } from './limit-headers.ts';
import { errorBody, type ModelStep } from './model-script.ts';

type Stage = AnyStage<FakeModel>;

/** Long enough that a state not seen within two seconds is missed. */
const dwellMs = 2_600;

/** What this version of the client could not be taken through; the rest was played all the same. */
export async function runStateTable(stage: Stage, setup: Setup): Promise<Unplayed[]> {
  const beside = Object.entries({ stall: apiStall, plan: planDialog, trust: trustScreen, limit: usageLimit });
  const alone = async () => {
    const unplayed: Unplayed[] = [];
    // One after the other: a client that starts takes a core, and the others would be seen late.
    for (const [name, play] of beside)
      unplayed.push(...(await tried(stage, `${setup.name}-${name}`, name, (session) => play(stage, setup, session))));
    return unplayed;
  };
  return (await Promise.all([mainTable(stage, setup), alone()])).flat();
}

/** Each truth of its agent ends with it, whatever it was in the middle of. */
async function tried(
  { world, sampler }: Stage,
  session: string,
  scenario: string,
  play: (session: string) => Promise<void>,
): Promise<Unplayed[]> {
  try {
    await play(session);
    return [];
  } catch (error) {
    if (!(error instanceof DeadlineMissed) || world.ending) throw error;
    sampler.follow(session).is(null);
    for (const client of world.clients) if (client.session === session) client.kill('SIGKILL');
    return [{ scenario, reason: error.message }];
  }
}

const stepMs = 20_000;
/** What the daemon says, it says by then. */
const toldMs = 15_000;

async function arrived(step: ModelStep): Promise<number> {
  return (await inTime(step.arrived, 'a request')).arrivedAt;
}

async function ended(step: ModelStep): Promise<number> {
  return (await inTime(step.ended, 'the end of a reply')).endedAt ?? 0;
}

function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  const late = sleep(stepMs, null, { ref: false }).then(() => {
    throw new DeadlineMissed(`not within ${stepMs} ms: ${what}`);
  });
  return Promise.race([promise, late]);
}

/** From the first key on, what was true before is over for somebody who looks closely. */
async function type(agent: ClientAgent, truth: Truth, text: string): Promise<void> {
  truth.typing();
  await agent.type(text);
}

async function ready(agent: ClientAgent, truth: Truth): Promise<void> {
  await agent.waitForScreen(/❯\u00a0/, 20_000);
  truth.is('fresh prompt');
  await sleep(dwellMs);
}

const parts = {
  'thinking and a tool': thinkingAndTool,
  dialogs,
  background,
  troubles,
  'compaction and clear': compactAndClear,
  exit,
};

/** One client goes through it all; after a part that could not be played a fresh one goes on. */
async function mainTable(stage: Stage, setup: Setup): Promise<Unplayed[]> {
  const unplayed: Unplayed[] = [];
  let agent: ClientAgent | null = null;
  let session = `${setup.name}-main`;
  for (const [name, part] of Object.entries(parts)) {
    const played = await tried(stage, session, name, async () => {
      const truth = stage.sampler.follow(session);
      if (agent === null) {
        agent = await launch(stage, setup, session);
        await ready(agent, truth);
      }
      await part(agent, truth, stage.sampler);
    });
    if (played.length === 0) continue;
    unplayed.push(...played);
    agent = null;
    session = `${setup.name}-main-${unplayed.length + 1}`;
  }
  return unplayed;
}

async function exit(agent: ClientAgent, truth: Truth): Promise<void> {
  truth.is(null);
  await agent.exit();
  truth.is('exited');
  await sleep(dwellMs);
}

/** On a busy machine it takes its time to die. */
async function kill(agent: ClientAgent, truth: Truth): Promise<void> {
  truth.is(null);
  agent.kill('SIGKILL');
  await until('the killed client gone', () => agent.pid() === null, stepMs);
  truth.is('killed');
  await sleep(dwellMs);
}

async function thinkingAndTool(agent: ClientAgent, truth: Truth): Promise<void> {
  agent.model.usage({ input: 1_345, cacheRead: 12_000, output: 40 });
  const thinking = agent.model.hold();
  await type(agent, truth, 'think about it');
  truth.is('thinking', await arrived(thinking));
  await sleep(dwellMs);
  thinking.release();
  truth.is('turn over', await ended(thinking));
  truth.uses(13_345);
  await sleep(dwellMs);

  agent.model.usage({ input: 789, cacheRead: 13_000, cacheCreate: 7_000, output: 60 });
  truth.uses(null);
  agent.model.tool('Bash', { command: 'date +%s%3N > t1; sleep 4; date +%s%3N > t2', description: 'wait' });
  const report = agent.model.reply('Waited.');
  truth.is(null);
  await type(agent, truth, 'run a tool');
  truth.is('tool', await stamp(agent, 't1'), 'Bash');
  truth.is('thinking', await stamp(agent, 't2'));
  truth.is('turn over', await ended(report));
  truth.uses(20_789);
  await sleep(dwellMs);
  truth.uses(null);
}

/** The time the agent's own command wrote down. */
async function stamp(agent: ClientAgent, name: string): Promise<number> {
  const file = path.join(agent.folder.project, name);
  for (let tries = 0; tries < 400; tries += 1) {
    const time = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
    if (time > 0) return time;
    await sleep(25);
  }
  throw new DeadlineMissed(`${name} was never written`);
}

async function dialogs(agent: ClientAgent, truth: Truth): Promise<void> {
  agent.model.tool('Bash', { command: 'touch made; date +%s%3N > t3; sleep 4', description: 'make a file' });
  const made = agent.model.reply('Made.');
  truth.is(null);
  await type(agent, truth, 'make a file');
  await agent.waitForScreen(/Do you want to/);
  truth.is('permission dialog');
  await sleep(dwellMs);
  truth.is(null);
  await agent.keys('Enter');
  truth.is('allowed tool', await stamp(agent, 't3'), 'Bash');
  truth.is('turn over', await ended(made));
  await sleep(dwellMs);

  agent.model.question('Which colour?', ['red', 'blue']);
  const answered = agent.model.reply('Red it is.');
  truth.is(null);
  await type(agent, truth, 'ask me something');
  await agent.waitForScreen(/Which colour/);
  truth.is('question dialog');
  await sleep(dwellMs);
  truth.is(null);
  await agent.keys('Enter');
  truth.is('turn over', await ended(answered));
  await sleep(dwellMs);
}

/** Says yes to whatever is asked until it is done. In auto mode the client finds no service to ask, and "No" comes first. */
async function approvedUntil(agent: ClientAgent, done: Promise<unknown>): Promise<void> {
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

async function background(agent: ClientAgent, truth: Truth): Promise<void> {
  const child = agent.model.subagent.hold();
  agent.model.tool('Agent', { description: 'look', prompt: 'look around', subagent_type: 'general-purpose' });
  const started = agent.model.reply('Agent started.');
  await type(agent, truth, 'start an agent');
  truth.is(null);
  await approvedUntil(agent, arrived(child));
  truth.is('subagent', await ended(started));
  await sleep(dwellMs + 1_000);
  truth.is(null);
  const told = agent.model.reply('It looked around.');
  child.release();
  truth.is('turn over', await ended(told));
  await sleep(dwellMs);

  agent.model.tool('Bash', { command: 'sleep 8', description: 'wait', run_in_background: true });
  const waiting = agent.model.reply('It waits in the background.');
  truth.is(null);
  await type(agent, truth, 'wait in the background');
  truth.is('background shell', await ended(waiting));
  await sleep(dwellMs);
  truth.is(null);
  const over = agent.model.reply('It is over.');
  truth.is('turn over', await ended(over));
  await sleep(dwellMs);
}

async function troubles(agent: ClientAgent, truth: Truth, sampler: Sampler): Promise<void> {
  agent.model.error(500, errorBody('api_error', 'Internal server error'), { times: 4 });
  const recovered = agent.model.hold();
  await type(agent, truth, 'work through errors');
  truth.is(null);
  await turns(agent, 'work through errors', 2);
  truth.is('retrying');
  await arrived(recovered);
  truth.is(null);
  await sleep(500);
  recovered.release();
  truth.is('turn over', await ended(recovered));
  await sleep(dwellMs);

  const overloaded = agent.model.overloaded(3);
  truth.is(null);
  await type(agent, truth, 'work when overloaded');
  truth.is('turn given up', await ended(overloaded));
  await turnEnded(sampler, truth, 'failed');
  await sleep(dwellMs);

  const long = agent.model.hold();
  await type(agent, truth, 'talk for long');
  truth.is('thinking', await arrived(long));
  await agent.waitForScreen(/I am thinking about it/);
  await sleep(dwellMs);
  truth.typing();
  await agent.keys('Escape');
  truth.is('interrupted');
  await turnEnded(sampler, truth, 'interrupted');
  await sleep(dwellMs);
}

async function turns(agent: ClientAgent, prompt: string, count: number): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (agent.model.turns.filter((turn) => turn.prompt.includes(prompt)).length >= count) return;
    await sleep(25);
  }
  throw new DeadlineMissed(`"${prompt}" was not asked ${count} times`);
}

/** How a turn ended is told by Watchkeeper alone: a miss, not the end of the run. */
async function turnEnded(sampler: Sampler, truth: Truth, end: string): Promise<void> {
  const told = async () => (await sampler.agent(truth.agent))?.last_turn === end;
  await until(end, told, toldMs).catch(() => truth.misses(`last turn ${end}`));
}

async function compactAndClear(agent: ClientAgent, truth: Truth, sampler: Sampler): Promise<void> {
  const compaction = agent.model.compaction.hold();
  await type(agent, truth, '/compact');
  truth.is('compacting', await arrived(compaction));
  await sleep(dwellMs);
  compaction.release();
  truth.is('compacted', await ended(compaction));
  await sleep(dwellMs);

  const before = (await sampler.agent(truth.agent))?.session_id;
  await type(agent, truth, '/clear');
  truth.is('cleared');
  const said = agent.model.reply('New.');
  await sleep(dwellMs);
  await type(agent, truth, 'hello again');
  truth.is(null);
  truth.is('turn over', await ended(said));
  const told = async () => (await sampler.agent(truth.agent))?.session_id !== before;
  await until('a new session', told, toldMs).catch(() => truth.misses('new session'));
  await sleep(dwellMs);
}

/**
 * The client says that it waits for the service once that has been silent for 45 seconds. Versions of some months ago say it of
 * their own service only: there it is not played.
 */
async function apiStall(stage: Stage, setup: Setup, session: string): Promise<void> {
  const truth = stage.sampler.follow(session);
  const agent = await launch(stage, setup, session);
  await ready(agent, truth);
  const silent = agent.model.silent();
  await type(agent, truth, 'say something');
  truth.is('thinking', await arrived(silent));
  await agent.waitForScreen(/Waiting for API response/, 60_000);
  truth.is('API stall');
  await sleep(dwellMs);
  await kill(agent, truth);
}

async function planDialog(stage: Stage, setup: Setup, session: string): Promise<void> {
  const truth = stage.sampler.follow(session);
  const agent = await launch(stage, setup, session, { permissionMode: 'plan' });
  await ready(agent, truth);
  agent.model.tool('ExitPlanMode', { plan: '1. Do it.' });
  truth.is(null);
  await type(agent, truth, 'make a plan');
  await agent.waitForScreen(/Exit plan mode\?|Would you like to proceed/);
  truth.is('plan dialog');
  await sleep(dwellMs);
  await kill(agent, truth);
}

async function trustScreen(stage: Stage, setup: Setup, session: string): Promise<void> {
  const truth = stage.sampler.follow(session);
  const agent = await launch(stage, setup, session, { trust: false });
  await agent.waitForScreen(/trust/, 20_000);
  truth.is('trust screen');
  await sleep(dwellMs + 2_000);
  await kill(agent, truth);
}

async function usageLimit(stage: Stage, setup: Setup, session: string): Promise<void> {
  const truth = stage.sampler.follow(session);
  // As a subscriber: only then does the client read the limit's headers.
  const env = { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'dummy' };
  const agent = await launch(stage, setup, session, { env });
  await ready(agent, truth);
  const resets = Math.floor(Date.now() / 1000) + 3_600;
  const limit = agent.model.error(429, errorBody('rate_limit_error', 'limit'), { headers: limitHeaders(resets) });
  truth.is(null);
  await type(agent, truth, 'work');
  truth.is('usage limit', await ended(limit));
  await sleep(dwellMs);
  await kill(agent, truth);
}
