// Watchkeeper with one client more, made as CONTRIBUTING.md says: a copy of the source with one folder and one line in a
// list. And that client's program in a pane.

import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../../src/conform/until.ts';
import type { HandoffDocument } from '../../src/handoff/documents.ts';
import { openPane } from '../system/stand-in.ts';
import { openWorld, type World } from '../system/world.ts';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.dirname(path.dirname(here));

/** With its daemon up. `handoff`: its part of the configuration. */
export async function openWorldWithParrots(handoff: object = {}): Promise<World> {
  const world = await openWorld();
  world.scenario.program = watchkeeperWithParrots(path.join(world.dir, 'copy'));
  const folder = path.join(world.scenario.home, '.config/watchkeeper');
  mkdirSync(folder, { recursive: true });
  const config = { tickSeconds: 0.5, prompt: { humanQuietSeconds: 0.5 }, handoff: { maxParallel: 10, ...handoff } };
  writeFileSync(path.join(folder, 'config.yaml'), JSON.stringify(config));
  await world.up();
  return world;
}

/** Asked at the daemon's own door, as `seen` of the world does: the program starts for a second each time. */
export async function handedOver(world: World, agent: string, ms = 90_000): Promise<HandoffDocument> {
  const begun = await world.ask({ ask: 'handoff', agent, dryRun: false });
  const now = () => world.ask({ ask: 'handoff-state', id: begun?.id ?? '' });
  const isOver = async () => ['done', 'failed'].includes((await now())?.step ?? '');
  await until(`the handoff of ${agent} over`, isOver, ms);
  return (await now()) as HandoffDocument;
}

/** How what Watchkeeper says to an agent ends. */
export const tag = /\[wk-\w+\]$/;

/** Its `watchkeeper` program; `more`: what else is added to the copy before it is built. */
export function watchkeeperWithParrots(dir: string, more: () => void = () => {}): string {
  for (const name of ['src', 'bin', 'scripts/build.mjs', 'package.json', 'tsconfig.json', 'tsconfig.build.json'])
    cpSync(path.join(root, name), path.join(dir, name), { recursive: true });
  symlinkSync(path.join(root, 'node_modules'), path.join(dir, 'node_modules'));
  const folder = path.join(dir, 'src/clients/parrot');
  mkdirSync(folder);
  for (const name of readdirSync(path.join(here, 'parrot'))) {
    const text = readFileSync(path.join(here, 'parrot', name), 'utf8');
    const moved = text.replaceAll("'../../../src/clients/", "'../").replaceAll("'../../../src/", "'../../");
    writeFileSync(path.join(folder, name), moved);
  }
  appendFileSync(path.join(dir, 'src/clients/all.ts'), "export { parrot } from './parrot/client.ts';\n");
  more();
  const built = spawnSync(process.execPath, [path.join(dir, 'scripts/build.mjs')], { encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`the copy does not build: ${built.stdout}${built.stderr}`);
  return path.join(dir, 'bin/watchkeeper');
}

type Fault = 'garbled' | 'late' | 'no-box' | 'dies-on-enter' | 'dies-on-paste' | 'forgetful' | 'uncounted';

export class Parrot {
  readonly session: string;
  readonly home: string;
  readonly cwd: string;
  readonly pane: string;
  readonly #world: World;

  constructor(world: World, session: string, pane: string) {
    this.#world = world;
    this.session = session;
    this.pane = pane;
    this.home = path.join(world.dir, 'parrots', session, 'home');
    this.cwd = path.join(world.dir, 'parrots', session, 'project');
  }

  /** Below a shell, as most are started: what is typed after its end goes to that. */
  static async open(world: World, session: string, faults: Fault[] = []): Promise<Parrot> {
    const parrot = new Parrot(world, session, `=${session}:`);
    const folder = path.dirname(parrot.home);
    const script = path.join(folder, 'parrot-cli/program.mjs');
    for (const each of [parrot.home, parrot.cwd, path.dirname(script)]) mkdirSync(each, { recursive: true });
    cpSync(path.join(here, 'program.mjs'), script);
    const program = path.join(folder, 'parrot');
    symlinkSync(process.execPath, program);
    const env = { PARROT_HOME: parrot.home, PARROT_FAULTS: faults.join(',') };
    const argv = ['sh', '-c', '"$0" "$@"; exec sh', program, script];
    await openPane(world.tmux, session, parrot.cwd, env, argv);
    await until('its screen', async () => (await parrot.screen()).includes('Parrot'));
    return parrot;
  }

  screen(): Promise<string> {
    return this.#world.tmux.run('capture-pane', '-p', '-t', this.pane);
  }

  /** As a person does it. */
  async says(text: string): Promise<void> {
    await this.#world.tmux.run('send-keys', '-t', this.pane, '-l', text);
    await this.#world.tmux.run('send-keys', '-t', this.pane, 'Enter');
  }

  async keys(...names: string[]): Promise<void> {
    await this.#world.tmux.run('send-keys', '-t', this.pane, ...names);
  }

  /** From now on it talks until it is let go. */
  hold(): void {
    writeFileSync(path.join(this.home, 'hold'), '');
  }

  /** What it answers when it is asked about its context. */
  counts(words: string): void {
    writeFileSync(path.join(this.home, 'context'), words);
  }

  letGo(): void {
    rmSync(path.join(this.home, 'hold'), { force: true });
  }

  /** What was submitted, in the order it came. */
  submitted(): string[] {
    return this.#read('submitted')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as string);
  }

  /** Every byte that came to its terminal. */
  received(): string {
    return this.#read('received');
  }

  /** Its records, by their sessions. */
  talks(): Map<string, string> {
    const folder = path.join(this.home, 'talks', this.cwd.replaceAll('/', '%'));
    return new Map(
      readdirSync(folder).map((name) => [path.basename(name, '.talk'), readFileSync(path.join(folder, name), 'utf8')]),
    );
  }

  #read(name: string): string {
    try {
      return readFileSync(path.join(this.home, name), 'utf8');
    } catch {
      return '';
    }
  }
}
