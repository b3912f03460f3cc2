// The one run that README and manual show: three agents, one of each is stopped by the API, waits for a person, and works.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { type Agent, emptyEnvironment, launchAgent } from './agent.ts';
import { ended, Handing } from './handing-over.ts';
import { configure } from './prompting.ts';
import { type Scenario, watchkeeperProgram } from './scenario.ts';
import { Watching } from './watching.ts';

/** Minutes are shortened to seconds: a reader has not got more. */
const config = {
  tickSeconds: 0.5,
  start: { firstQuietSeconds: 3, quietSeconds: 0 },
  prompt: { minIntervalMinutes: 5, humanQuietSeconds: 0.5 },
  waiting: { notifyMinutes: 0.05, repeatMinutes: 60 },
};

/** A command as it is typed, and what it prints, as one block. */
class Recorder {
  readonly texts = new Map<string, string>();
  readonly #scenario: Scenario;

  constructor(s: Scenario) {
    this.#scenario = s;
  }

  async run(name: string, line: string): Promise<void> {
    const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
    const { stdout, stderr } = await this.#scenario.watchkeeper(words);
    this.add(name, `$ watchkeeper ${line}\n${stdout}${stderr}`);
  }

  /** Further commands of the same name go on in the same block. */
  add(name: string, text: string): void {
    this.texts.set(name, `${this.texts.get(name) ?? ''}${withoutPlaces(text, this.#scenario)}`);
  }
}

/** The temp folder of the run is nobody's home; the client names a project's folder after its path. */
function withoutPlaces(text: string, s: Scenario): string {
  const asName = (folder: string) => folder.replaceAll(/[^a-zA-Z0-9]/g, '-');
  return [s.home, s.dir].reduce(
    (all, folder) => all.replaceAll(folder, '/home/you').replaceAll(asName(folder), '-home-you'),
    text,
  );
}

/** Of all that `up` prints: how it begins, what became of the agent that the API stopped, and that another one waits. */
function upExcerpt(output: string): string {
  const isShown = (line: string) =>
    /found \d|: idle$|may prompt|first start|to stop that|^ {10}|the start is over|api-ps +(found silent-stop|prompted|answered)|docs-ps +waits/.test(
      line,
    );
  const lines = output.split('\n').filter(isShown);
  const last = lines.findIndex((line) => /docs-ps +waits/.test(line));
  return `$ watchkeeper up\n${lines.slice(0, last + 1).join('\n')}\n`;
}

/** Everything it prints, until it is stopped. */
function startUp(s: Scenario): { child: ChildProcess; output(): string } {
  const env = { ...emptyEnvironment(s.home), WATCHKEEPER_HOME: s.watchkeeperHome, TMUX_TMPDIR: s.tmux.tmpdir };
  const child = spawn(watchkeeperProgram, ['up'], { cwd: s.home, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return { child, output: () => output };
}

/** They ask before they publish, and before nothing else. */
function launch(s: Scenario, session: string): Promise<Agent> {
  const project = path.join(s.home, session.replace(/-ps$/, ''));
  const extraSettings = { permissions: { allow: ['Bash'], ask: ['Bash(npm publish:*)'] } };
  const permissionMode = 'auto';
  return launchAgent({
    scenario: s,
    session,
    shell: 'bash',
    permissionMode,
    configDir: 'home',
    project,
    extraSettings,
  });
}

/** What each command printed, by the names in the pages. */
export async function transcripts(s: Scenario): Promise<Map<string, string>> {
  const record = new Recorder(s);
  configure(s, JSON.stringify(config));
  const [api, docs, shop] = await Promise.all([launch(s, 'api-ps'), launch(s, 'docs-ps'), launch(s, 'shop-ps')]);
  for (const agent of [api, docs, shop]) await agent.waitReady();
  const up = startUp(s);
  const watch = new Watching(s);
  try {
    await s.until('up is watching', () => up.output().includes('watching'));
    await watch.follow();
    await s.until('rules act', () => up.output().includes('the start is over'));
    await theTroubles(s, watch, { api, docs, shop }, record);
    await theHandover(s, watch, api, record);
    const exit = once(up.child, 'exit');
    up.child.kill('SIGINT');
    await exit;
  } finally {
    watch.stop();
    up.child.kill('SIGINT');
  }
  record.add('up', upExcerpt(up.output()));
  return record.texts;
}

async function theTroubles(
  s: Scenario,
  watch: Watching,
  { api, docs, shop }: { api: Agent; docs: Agent; shop: Agent },
  record: Recorder,
): Promise<void> {
  api.model.overloaded(3);
  const goingOn = api.model.hold();
  await api.type('add the endpoint');
  await goingOn.arrived;
  await seenThinking(s, watch, 'api-ps');
  goingOn.release();
  await watch.turn('api-ps', 'ok');

  shop.model.usage({ input: 10, cacheRead: 590_000, cacheCreate: 9_990 });
  await shop.type('sort the products');
  await watch.turn('shop-ps', 'ok');
  await record.run('can-accept', 'can-accept shop-ps --size large');
  await record.run('context', 'context shop-ps');
  shop.model.reply('Two of three files are done.');
  await record.run('prompt', 'prompt shop-ps "How far are you?" --wait 60');

  const thinking = shop.model.hold();
  await shop.type('go on');
  await thinking.arrived;
  await seenThinking(s, watch, 'shop-ps');
  docs.model.tool('Bash', { command: 'npm publish', description: 'publish the site' });
  await docs.type('publish the site');
  await docs.waitDialog(/Do you want to/);
  const isTold = async () => (await s.watchkeeper(['inbox'])).stdout.includes('watchkeeper ack');
  await s.until('people told of docs-ps', isTold);
  await s.until('api-ps well again', async () => (await watch.status('api-ps'))?.findings.length === 0);
  await record.run('status', 'status');
  await record.run('inbox', 'inbox');
  await record.run('why', 'why docs-ps');
  await record.run('health', 'health docs-ps');
  await record.run('pause', 'pause --reason "I am deploying"');
  await record.run('pause', 'unpause');
  await docs.answer(/Do you want to/, 'Escape');
  thinking.release();
  await watch.turn('shop-ps', 'ok');
}

async function seenThinking(s: Scenario, watch: Watching, agent: string): Promise<void> {
  await s.until(`${agent} seen thinking`, async () => (await watch.status(agent))?.detail === 'thinking');
}

async function theHandover(s: Scenario, watch: Watching, api: Agent, record: Recorder): Promise<void> {
  const model = new Handing(api);
  await model.fill(40);
  await watch.turn('api-ps', 'ok');
  await s.watchkeeper(['handoff', 'api-ps']);
  await ended(s, 'api-ps');
  await record.run('handoffs', 'handoffs');
  await record.run('audit', 'audit api-ps');
  await record.run('accuracy', 'accuracy --since 7d');
  await record.run('replay', 'replay --since 7d');
}
