// A night in a few minutes: one agent works through a list of tasks over several contexts, through failures of the service
// and a dialog, while nobody but a person with a pager is there. Watchkeeper is reached through its commands alone.
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { ModelReply } from '../../src/clients/claude-code/conform/model-script.ts';
import { type Agent, clientOnPath, launchAgent } from '../clients/agent.ts';
import { type Ask, Handing, handoffs, makeRepository, wholeWay } from '../clients/handing-over.ts';
import { configure, say } from '../clients/prompting.ts';
import { type Scenario, scenario } from '../clients/scenario.ts';

const name = 'night-ps';
const tasks = Array.from({ length: 23 }, (_, index) => `task-${String(index + 1).padStart(2, '0')}`);
/** Three 529s each, once, instead of the answer after this task. */
const failsAfter = ['task-07', 'task-17'];
/** Not allowed by the settings: the client asks. */
const asksFor = 'task-12';
/** So much of the context is used after the start, and more after each task: five tasks fill it. */
const begins = 6;
const taskPercent = 16;

interface Item {
  kind: string;
  agent: string;
  trigger: string;
  outcome: string | null;
  intent: { deed?: string; tag?: string };
}

interface Message {
  agent: string;
  check: string;
  event: string;
}

test(
  'a task list is finished over four handoffs, two failures of the service and a dialog, each task done once',
  scenario(async (s) => {
    const pages = path.join(s.dir, 'pages.jsonl');
    configure(s, JSON.stringify(settings(s, pages)));
    const up = await s.watchkeeper(['up', '--detach']);
    expect(up.code, up.stderr).toBe(0);
    const agent = await start(s);
    const bystander = 'other-ps';
    await s.tmux.run('new-session', '-d', '-s', bystander, '-x', '100', '-y', '30', 'cat');
    const worker = new Worker(agent);
    worker.model.head = makeRepository(agent.folder.project);
    await s.until(`${name} known`, async () => (await state(s)) === 'idle');

    const person = answerDialog(s, agent, pages);
    const sent = await say(s, name, 'Work through the list in tasks.md, one task after the other.');
    expect(sent.outcome).toBe('confirmed');
    await person;
    await s.until('the list finished', () => done(agent).length >= tasks.length, 400_000);
    await s.until('its turn over', async () => (await state(s)) === 'idle', 60_000);

    expect(done(agent)).toEqual(tasks);
    expect(readFileSync(path.join(agent.folder.project, 'tasks.md'), 'utf8')).not.toContain('[ ]');

    const all = await handoffs(s, name);
    expect(all.map(({ steps }) => steps.map(({ step }) => step))).toEqual(Array<string[]>(4).fill(wholeWay));
    for (const { reason, trigger, sha256 } of all) {
      expect(reason).toBeNull();
      expect(trigger).toMatch(/^rule:/);
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    }

    // What was done, all of it, and nothing else: neither to this agent nor to anybody.
    const ledger = (await s.watchkeeper(['audit', '--json'])).json<{ items: Item[] }>().items;
    const acted = ledger.filter(({ outcome }) => outcome !== 'refused');
    expect(acted.every(({ agent: whom }) => whom === name)).toBe(true);
    expect(
      counted(acted.map(({ kind, trigger, intent }) => [kind, trigger, intent.deed].filter(Boolean).join(' '))),
    ).toEqual({
      'prompt human': 1,
      'prompt handoff ask': 4,
      'command handoff clear': 4,
      'prompt handoff resume': 4,
      'prompt rule:silent-stop': 2,
      'notify rule:waiting-human': 1,
    });
    expect(acted.filter(({ outcome }) => outcome === null || /fail|uncertain/.test(outcome))).toEqual([]);
    // What reached the model is what the ledger says, each once: its tags, and no words without one.
    expect(worker.heard.filter((text) => !/\[wk-\w+\]$/.test(text))).toEqual([]);
    const tags = worker.heard.map((text) => /\[(wk-\w+)\]$/.exec(text)?.[1]).sort();
    expect(tags).toEqual(acted.flatMap(({ intent }) => intent.tag ?? []).sort());
    expect((await s.tmux.run('capture-pane', '-p', '-t', `=${bystander}:`)).trim()).toBe('');

    expect(messages(pages)).toMatchObject([{ agent: name, check: 'waiting-human', event: 'opened' }]);
    const inbox = (await s.watchkeeper(['inbox', '--json'])).json<{ items: unknown[] }>().items;
    expect(inbox).toEqual([]);
    const unhealthy = await s.watchkeeper(['health', '--filter', 'unhealthy', '--json']);
    expect(unhealthy.code, unhealthy.stdout).toBe(0);
    process.stderr.write(`${await figures(s, worker, acted)}\n`);
  }),
);

/** Minutes are seconds; whoever has the pager gets a line in a file. */
function settings(s: Scenario, pages: string) {
  const pager = path.join(s.dir, 'page');
  writeFileSync(pager, `#!/bin/sh\ncat >> '${pages}'\necho >> '${pages}'\n`);
  chmodSync(pager, 0o700);
  return {
    tickSeconds: 0.5,
    prompt: { minIntervalMinutes: 0.05, humanQuietSeconds: 1 },
    waiting: { notifyMinutes: 0.05, repeatMinutes: 60 },
    handoff: { deadlineMinutes: 2 },
    notify: [{ channel: 'pager', type: 'command', command: [pager] }],
  };
}

/** Under bash, in manual permission mode, with the hooks of `init`; all tasks but one may be done without asking. */
async function start(s: Scenario): Promise<Agent> {
  const configDir = path.join(s.dir, name, 'config');
  const agent = await launchAgent({
    scenario: s,
    session: name,
    shell: 'bash',
    permissionMode: 'default',
    configDir,
    extraSettings: { permissions: { allow: ['Bash(./do-task:*)'] } },
    prepared: async () => {
      const init = await s.watchkeeper(['init', '--config-dir', configDir], { env: clientOnPath });
      expect(init.code, init.stderr).toBe(0);
    },
  });
  const { project } = agent.folder;
  writeFileSync(path.join(project, 'tasks.md'), tasks.map((task) => `- [ ] ${task}\n`).join(''));
  // Does a task, ticks it off and says which is next.
  const script = [
    '#!/bin/sh',
    'sleep 1',
    'echo "$1" >> done.txt',
    'sed -i "s/^- \\[ \\] $1$/- [x] $1/" tasks.md',
    'echo "did $1, next: $(sed -n "s/^- \\[ \\] //p" tasks.md | head -n 1)"',
  ];
  for (const program of ['do-task', 'release']) {
    writeFileSync(path.join(project, program), `${script.join('\n')}\n`);
    chmodSync(path.join(project, program), 0o700);
  }
  await agent.waitReady();
  return agent;
}

/** The model at work: what it knows of the tasks it has from what it reads. */
class Worker {
  readonly model: Handing;
  /** What was said to it, each once. */
  readonly heard: string[] = [];
  /** When a turn ended that somebody had to do something about. */
  readonly stopped: number[] = [];
  #failures = new Map(failsAfter.map((task) => [task, 3]));

  constructor(agent: Agent) {
    this.model = new Handing(agent, (ask) => this.#reply(ask));
    this.model.percent = begins;
  }

  #reply(ask: Ask): ModelReply | undefined {
    const { toolResults, text, kind } = ask.turn;
    if (kind !== 'main') return undefined;
    const [result] = toolResults;
    if (this.heard.at(-1) !== text) this.heard.push(text);
    if (ask.asked === 'document' || ask.asked === 'again') return this.model.write(ask, this.#document(ask));
    if (result === undefined) {
      if (ask.asked === 'resume') this.model.percent = begins;
      const file = ask.asked === 'resume' ? ask.file : path.join(this.model.agent.folder.project, 'tasks.md');
      return { tools: [{ name: 'Read', input: { file_path: file } }] };
    }
    return this.#goOn(result.text);
  }

  #goOn(result: string): ModelReply {
    const did = /did (task-\d+)/.exec(result)?.[1];
    const left = this.#failures.get(did ?? '') ?? 0;
    if (did !== undefined && left > 0) {
      this.#failures.set(did, left - 1);
      if (left === 1) this.stopped.push(Date.now());
      const body = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
      return { error: { status: 529, body } };
    }
    const next = /(?:next: |Do |\[ \] )(task-\d+)/.exec(result)?.[1];
    if (next === undefined) return { text: 'All tasks are done.' };
    if (this.model.percent > 85) {
      this.stopped.push(Date.now());
      return { text: 'A good place to stop for a moment.' };
    }
    this.model.percent += taskPercent;
    const command = `./${next === asksFor ? 'release' : 'do-task'} ${next}`;
    return { tools: [{ name: 'Bash', input: { command, description: `do ${next}` } }] };
  }

  #document({ nonce }: Ask): string {
    const project = this.model.agent.folder.project;
    const next = /\[ \] (task-\d+)/.exec(readFileSync(path.join(project, 'tasks.md'), 'utf8'))?.[1];
    return this.model.document(nonce, 'none').replace('Create the file none', `Do ${next}, then the rest of tasks.md`);
  }
}

/** A person with the pager: looks into the inbox, then at the agent, and says yes. */
async function answerDialog(s: Scenario, agent: Agent, pages: string): Promise<void> {
  await s.until('somebody paged', () => messages(pages).some(({ check }) => check === 'waiting-human'), 400_000);
  const inbox = (await s.watchkeeper(['inbox', '--json'])).json<{ items: { agent: string; kind: string }[] }>();
  expect(inbox.items).toMatchObject([{ agent: name, kind: 'waiting-human' }]);
  expect(done(agent)).not.toContain(asksFor);
  await agent.waitDialog(/Do you want/);
  await agent.keys('Enter');
  await s.until(`${asksFor} done`, () => done(agent).includes(asksFor));
}

function messages(pages: string): Message[] {
  return existsSync(pages) ? lines(pages).map((line) => JSON.parse(line) as Message) : [];
}

function done(agent: Agent): string[] {
  const file = path.join(agent.folder.project, 'done.txt');
  return existsSync(file) ? lines(file) : [];
}

const lines = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');

function counted(words: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

async function state(s: Scenario): Promise<string | null> {
  const { agents } = (await s.watchkeeper(['status', '--json'])).json<{ agents: { agent: string; state: string }[] }>();
  return agents.find(({ agent }) => agent === name)?.state ?? null;
}

/** How many of the moments that called for something were taken, and how long nothing was known. */
async function figures(s: Scenario, worker: Worker, acted: Item[]): Promise<string> {
  const told = (await s.watchkeeper(['events', name, '--limit', '10000', '--json'])).stdout
    .split('\n')
    .filter((line) => line !== '');
  const states = told
    .map((line) => JSON.parse(line) as { at: string; kind: string; data: { state?: string } })
    .filter(({ kind }) => kind === 'state');
  const atMs = (index: number) => Date.parse(states[index]?.at ?? '');
  const wholeMs = Date.now() - atMs(0);
  let unknownMs = 0;
  for (const [index, { data }] of states.entries())
    if (data.state === 'unknown') unknownMs += (index + 1 < states.length ? atMs(index + 1) : Date.now()) - atMs(index);
  const taken = acted.filter(({ trigger, intent }) => trigger === 'rule:silent-stop' || intent.deed === 'ask').length;
  const percent = ((100 * unknownMs) / wholeMs).toFixed(1);
  return `night: ${(wholeMs / 1000).toFixed(0)} s, ${taken} of ${worker.stopped.length} fitting moments taken, unknown for ${percent} % of the time`;
}
