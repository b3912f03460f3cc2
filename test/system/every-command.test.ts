// Every command of the program where it cannot do its work: with no daemon, with no database, as another user, for a
// reader who is gone, in a locale without UTF-8. A command without a row here fails the first test.
import { spawn, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { startEmbedded, stopEmbedded } from '../../src/record/embedded/server.ts';
import { addCommands } from '../../src/serve/cli/commands.ts';
import { emptyEnvironment } from '../clients/agent.ts';
import { watchkeeperProgram } from '../clients/scenario.ts';
import { discardHome, newHome } from './embedded-home.ts';
import { openStandIn, type StandIn } from './stand-in.ts';
import { answerMs, openWorld, type World } from './world.ts';

/** What `interface.md` says of the exit codes. */
const [ok, no, usage, noDaemon, notFound, noDatabase] = [0, 1, 2, 3, 4, 5];

interface Row {
  args: (world: World) => string[];
  stdin?: string;
  /** The exit code with the daemon down and its database there to be started. */
  down: number;
  /** With the daemon up and the database away. */
  away: number;
  /** Run after all others, in this order: it changes what they find. */
  last?: true;
  /** It starts a daemon, or stops one with its database: that takes its time. */
  slow?: true;
}

const agent = 'naïve-🎉-ps';
const row = (args: string[], down: number, away: number, more: Partial<Row> = {}): Row => ({
  args: () => args,
  down,
  away,
  ...more,
});
const inFolder = (name: string) => (world: World) => path.join(world.dir, name);
const backup = inFolder('wk.backup');

const rows: Record<string, Row> = {
  init: { args: (world) => [world.dir, '--dry-run'], down: ok, away: ok },
  uninstall: { args: (world) => [world.dir], down: ok, away: ok },
  status: row([], noDaemon, ok),
  why: row([agent], noDaemon, ok),
  health: row([], noDaemon, ok),
  context: row([agent], ok, noDatabase),
  'can-accept': row([agent, '--size', 'tiny'], noDaemon, ok),
  handoff: row([agent], noDaemon, no),
  handoffs: row([], ok, noDatabase),
  'spawn-track add': row(['--project', 'p', '--task-id', 't', '--output', '/tmp/wk-none'], ok, noDatabase),
  'spawn-track done': row(['p', 'none'], notFound, noDatabase),
  'spawn-track fail': row(['p', 'none'], notFound, noDatabase),
  'spawn-track list': row([], ok, noDatabase),
  inbox: row([], noDaemon, ok),
  ack: row(['12345678'], noDaemon, notFound),
  prompt: row([agent, 'hello'], noDaemon, no),
  prompts: row([], ok, noDatabase),
  compact: row([agent], noDaemon, no),
  interrupt: row([agent], noDaemon, no),
  audit: row([], ok, noDatabase),
  events: row([], ok, noDatabase),
  pause: row([], ok, ok, { last: true }),
  unpause: row([], ok, ok, { last: true }),
  authority: row([agent, 'observe'], noDaemon, noDatabase, { last: true }),
  // It needs no daemon, but brings up all that one has.
  check: row([], ok, ok, { last: true, slow: true }),
  replay: { args: (world) => [path.join(world.dir, 'none.jsonl')], down: notFound, away: notFound },
  eval: { args: (world) => [world.dir], down: notFound, away: notFound },
  accuracy: row([], ok, noDatabase),
  doctor: row([], no, no),
  conformance: row(['--program', '/nonexistent'], notFound, notFound),
  'config check': row([], ok, ok),
  'config show': row([], ok, ok),
  'config forget': row([], ok, ok),
  'config schema': row([], ok, ok),
  redact: row([], ok, noDatabase, { stdin: 'never-said-anywhere', last: true }),
  'db url': row([], ok, ok),
  'db export': row([], ok, noDatabase),
  'db backup': { args: (world) => [backup(world)], down: ok, away: noDatabase },
  'db restore': { args: (world) => [`${backup(world)}.none`], down: usage, away: usage },
  help: row([], ok, ok),
  up: row(['--detach'], ok, no, { last: true, slow: true }),
  down: row([], ok, ok, { last: true, slow: true }),
};

/** As `nobody` would find out. */
function isOpenToOthers(): boolean {
  return spawnSync(process.execPath, [watchkeeperProgram, '--version'], { uid: 65_534, cwd: '/' }).status === 0;
}

interface Said {
  code: number | null;
  stdout: string;
  stderr: string;
  ms: number;
}

interface How {
  env?: Record<string, string>;
  stdin?: string;
  uid?: number;
  /** The reader is gone before a word is said. */
  closed?: boolean;
  cwd?: string;
}

function run(world: World, args: string[], { env, stdin, uid, closed, cwd }: How = {}): Promise<Said> {
  const beganMs = performance.now();
  const child = spawn(process.execPath, [watchkeeperProgram, ...args], {
    env: {
      ...{ ...emptyEnvironment(world.scenario.home), TMUX_TMPDIR: world.tmux.tmpdir, WATCHKEEPER_HOME: world.dataDir },
      ...{ ...world.env, ...env },
    },
    cwd: cwd ?? world.scenario.home,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)];
  if (closed) child.stdout.destroy();
  child.stdin.on('error', () => {}).end(stdin ?? '');
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, stdout: stdout(), stderr: stderr(), ms: performance.now() - beganMs }));
  });
}

function textOf(stream: Readable): () => string {
  const chunks: string[] = [];
  stream.setEncoding('utf8').on('data', (text: string) => chunks.push(text));
  return () => chunks.join('');
}

/** What went wrong and the way out, in one line; or the answer no. */
function isClear({ code, stdout, stderr }: Said): void {
  for (const line of stderr.split('\n').slice(0, -1)) expect(line).toMatch(/^watchkeeper: \S/);
  if (code === ok) return;
  if (code === no && stdout !== '') expect(stderr).toBe('');
  else expect([stdout, stderr]).toEqual(['', expect.stringMatching(/^watchkeeper: [^\n:][^\n]*[^\n:]: [^\n]+\n$/)]);
}

const commands = Object.entries(rows).map(([name, each]) => ({ name, ...each }));
const early = commands.filter(({ last }) => last !== true);
const late = commands.filter(({ last }) => last === true);

async function holds(world: World, { name, args, stdin, slow }: (typeof commands)[number], code: number) {
  const said = await run(world, [...name.split(' '), ...args(world)], stdin === undefined ? {} : { stdin });
  expect(said, `${name}: ${said.stdout}${said.stderr}`).toMatchObject({ code });
  isClear(said);
  expect(said.ms, 'as slow as a program of its own that starts on a busy machine').toBeLessThan(
    slow === true ? 30_000 : answerMs,
  );
}

async function watching(world: World): Promise<StandIn> {
  const standIn = await openStandIn(world, agent);
  await world.up();
  standIn.turn();
  await world.agentIs(agent, ({ last_turn }) => last_turn === 'ok');
  await until('rows', async () => (await world.run('events', agent)).stdout.includes('turn-end'));
  return standIn;
}

it('every command of the program has its row here', async () => {
  const program = new Command('watchkeeper');
  await addCommands(program, undefined);
  const leaves = (command: Command, above: string[]): string[] =>
    command.commands.length === 0
      ? [[...above, command.name()].join(' ')]
      : command.commands.flatMap((each) => leaves(each, [...above, command.name()]));
  const all = program.commands.flatMap((command) => leaves(command, []));
  expect(Object.keys(rows).sort()).toEqual(all.sort());
});

describe('with the daemon down', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
    await watching(world);
    await world.down();
  });
  afterAll(() => world.end());

  describe.concurrent('what only looks', () => {
    it.each(early)('$name ends with $down', (each) => holds(world, each, each.down));
  });

  const isRoot = process.getuid?.() === 0;
  const stranger = 65_534;
  /** These have no use for the data directory, or say what is wrong with it. */
  const homeless: Record<string, number> = { config: ok, help: ok, replay: notFound, eval: notFound, doctor: no };
  const tops = [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))];

  describe.concurrent("as another user, with this one's data directory", () => {
    let home: string;
    beforeAll(() => {
      home = mkdtempSync(path.join(tmpdir(), 'wk-stranger-'));
      chownSync(home, stranger, stranger);
    });
    afterAll(() => rmSync(home, { recursive: true, force: true }));

    // Where the checkout itself is closed to others, they have no program to try.
    it.runIf(isRoot && isOpenToOthers()).each(tops)('%s is refused', async (top) => {
      const one = commands.find(({ name }) => name.split(' ')[0] === top);
      if (one === undefined) throw new Error(top);
      const how = { uid: stranger, env: { HOME: home }, stdin: one.stdin ?? '', cwd: home };
      const said = await run(world, [...one.name.split(' '), ...one.args(world)], how);
      expect(said, said.stdout + said.stderr).toMatchObject({ code: homeless[top] ?? usage });
      isClear(said);
      if (homeless[top] === undefined) expect(said.stderr).toContain(`the data directory ${world.dataDir} `);
      expect(said.ms).toBeLessThan(answerMs);
    });
  });

  describe.concurrent('for a reader who is gone, as in `| true`', () => {
    it.each(['events', 'audit', 'db export', 'config show', 'doctor', 'status'])('%s ends quietly', async (name) => {
      const { code, stderr } = await run(world, name.split(' '), { closed: true });
      // What is said on stdout does not get there, so neither does a verdict.
      expect([ok, rows[name]?.down], stderr).toContain(code);
      expect(stderr).not.toMatch(/unexpected|EPIPE| {4}at /);
    });
  });

  describe.concurrent('in a locale without UTF-8', () => {
    it.each(['events', 'context', 'prompts', 'doctor', 'config show'])('%s says it in ASCII', async (name) => {
      const args = [...name.split(' '), ...(name === 'context' ? [agent] : [])];
      const said = await run(world, args, { env: { LANG: 'C' } });
      expect(said.stdout + said.stderr).toMatch(/^[\0-\x7f]+$/);
      if (name === 'events') expect(said.stdout).toContain('na?ve-?-ps  state  new -> idle');
    });

    it('JSON says the same', async () => {
      const [plain, usual] = await Promise.all(
        ['C', 'C.UTF-8'].map((LANG) => run(world, ['events', '--json'], { env: { LANG } })),
      );
      expect(plain?.stdout).toMatch(/^[\0-\x7f]+$/);
      const read = (said: Said | undefined) =>
        said?.stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line));
      expect(read(plain)).toEqual(read(usual));
    });
  });

  it("times are on the reader's clock, and in JSON everybody's", async () => {
    const first = async (TZ: string, ...more: string[]) =>
      (await run(world, ['events', ...more], { env: { TZ } })).stdout.split('\n')[0] ?? '';
    const { at } = JSON.parse(await first('UTC', '--json')) as { at: string };
    expect(JSON.parse(await first('Asia/Kathmandu', '--json'))).toMatchObject({ at });
    const there = new Date(Date.parse(at) + 345 * 60_000).toISOString();
    // A day that is another one there is said as well.
    expect(await first('Asia/Kathmandu')).toContain(there.slice(11, 16));
    expect(await first('UTC')).toContain(at.slice(11, 19));
  });

  describe('what changes something', () => {
    it.each(late)('$name ends with $down', (each) => holds(world, each, each.down));
  });
});

describe('with the database away', () => {
  let world: World;
  const home = newHome();
  beforeAll(async () => {
    const server = await startEmbedded(home, { createUser: true });
    if (!server.ok) throw new Error(server.message);
    world = await openWorld();
    world.env = { DATABASE_URL: server.value.adminUrl };
    await watching(world);
    await stopEmbedded(home);
  });
  afterAll(async () => {
    await world.end();
    await discardHome(home);
  });

  describe.concurrent('what only looks', () => {
    it.each(early)('$name ends with $away', (each) => holds(world, each, each.away));
  });

  it('status takes less than a second', async () => {
    const times: number[] = [];
    for (let n = 0; n < 3; n += 1) times.push((await run(world, ['status'])).ms);
    expect(Math.min(...times)).toBeLessThan(1_000);
  });

  describe('what changes something', () => {
    it.each(late)('$name ends with $away', (each) => holds(world, each, each.away));
  });
});
