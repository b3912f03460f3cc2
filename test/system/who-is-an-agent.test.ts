// Who is an agent: the shipped client, and whoever the client's own registry vouches for. Nobody else, whatever they
// call themselves; and nothing of another user is touched.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { processTree, programOf } from '../../src/conform/processes.ts';
import { until } from '../../src/conform/until.ts';
import { openPane, openStandIn, StandIn, standInProgram } from './stand-in.ts';
import { answerMs, openWorld, type World } from './world.ts';

const root = process.getuid?.() === 0;
const stranger = 54_321;
let world: World;
/** The user's own ~/.claude, where agents outside tmux are found. */
let ownConfig: string;

beforeAll(async () => {
  world = await openWorld();
  ownConfig = path.join(world.scenario.home, '.claude');
  mkdirSync(path.join(ownConfig, 'sessions'), { recursive: true });
  await openStandIn(world, 'honest');
  await world.up();
  await world.agentIs('honest', 'idle');
});
afterAll(() => world.end());

/** Looked for long enough: a session opened after it was found, and it was not. */
async function isNoAgent(name: string): Promise<void> {
  const after = `after-${name}`;
  await openStandIn(world, after);
  await world.agentIs(after, 'idle');
  expect(await world.agent(name)).toBeNull();
}

describe('a program that merely calls itself claude', () => {
  it.each([
    ['a copy of another program', (file: string) => copyFileSync('/usr/bin/sleep', file)],
    [
      'a script',
      (file: string) => writeFileSync(file, '#!/bin/sh\nwhile :; do read -r line || exit; done\n', { mode: 0o755 }),
    ],
    ['a link to another program', (file: string) => symlinkSync('/usr/bin/sleep', file)],
  ])('is no agent and is counted once: %s', async (what, make) => {
    const name = what.replaceAll(' ', '-');
    const program = path.join(world.dir, name, 'claude');
    mkdirSync(path.dirname(program));
    make(program);
    const before = await world.counter('process.impostor');
    const pid = await openPane(world.tmux, name, world.dir, {}, [program, 'infinity']);
    await until('it calls itself so', () => readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'claude');
    await world.counterGrows('process.impostor', before);
    await isNoAgent(name);
    expect((await world.doctor()).checks.get('input')?.detail).toContain(`process.impostor ${before + 1}`);
  });

  it('is none either with a registry file of another process', async () => {
    const program = path.join(world.dir, 'borrowed', 'claude');
    mkdirSync(path.dirname(program));
    copyFileSync('/usr/bin/sleep', program);
    const config = path.join(world.dir, 'borrowed', 'config');
    const pid = await openPane(world.tmux, 'borrowed', world.dir, { CLAUDE_CONFIG_DIR: config }, [program, 'infinity']);
    new StandIn(pid, config, world.dir).register({ procStart: '1' });
    await isNoAgent('borrowed');
  });

  it('a shell, an editor or a log with the word in its arguments is none', async () => {
    await openPane(world.tmux, 'editor', world.dir, {}, ['sh', '-c', 'sleep infinity; : claude', 'claude']);
    await isNoAgent('editor');
  });
});

describe('a client that is dead while its parent does not ask after it', () => {
  it('has ended, which is told once', async () => {
    const name = 'unburied';
    const config = path.join(world.dir, name, 'config');
    const start = ['sh', '-c', '"$0" infinity & exec sleep infinity', standInProgram(world)];
    const parent = await openPane(world.tmux, name, world.dir, { CLAUDE_CONFIG_DIR: config }, start);
    const pid = await until('the client started', () =>
      processTree(parent).find((below) => programOf(below) === standInProgram(world)),
    );
    new StandIn(pid, config, world.dir).register({});
    const before = await world.agentIs(name, 'idle');
    process.kill(pid, 'SIGKILL');
    await world.agentIs(name, 'ended');
    // Two more full looks at the least, with the dead one there.
    await isNoAgent('nobody');
    await isNoAgent('nobody-else');
    expect(readFileSync(`/proc/${pid}/stat`, 'latin1')).toMatch(/\) Z /);
    expect(await world.agent(name)).toMatchObject({ state: 'ended', session_id: before.session_id, tmux: before.tmux });
    const told = await until('its end on record', async () => {
      const lines = (await world.run('events', name, '--json')).stdout.split('\n').filter((line) => line !== '');
      const words = lines.map((line) => JSON.parse(line) as { kind: string; data: { state?: string } });
      const kinds = words.map(({ kind, data }) => (kind === 'state' ? `${data.state}` : kind));
      return kinds.includes('ended') ? kinds : null;
    });
    expect(told.filter((kind) => kind === 'agent' || kind === 'ended').sort()).toEqual(['agent', 'ended']);
  });
});

describe('a config directory', () => {
  it('named relative to where the client runs is found there', async () => {
    const cwd = path.join(world.dir, 'relative');
    mkdirSync(cwd);
    const env = { CLAUDE_CONFIG_DIR: 'own/config' };
    const pid = await openPane(world.tmux, 'relative', cwd, env, [standInProgram(world), 'infinity']);
    new StandIn(pid, path.join(cwd, 'own/config'), cwd).register({ status: 'busy' });
    await world.agentIs('relative', (agent) => agent.state === 'working');
  });
});

describe('the registry of the user', () => {
  function process_(
    argv: [string, ...string[]] = ['sleep', 'infinity'],
    options: object = {},
  ): ChildProcess & { pid: number } {
    const child = spawn(argv[0], argv.slice(1), { stdio: 'ignore', ...options });
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    return child as ChildProcess & { pid: number };
  }

  it('an entry of a dead process, of a reused pid, or of nobody makes no agent', async () => {
    const dead = spawnSync('true').pid;
    const alive = process_();
    const before = await world.counter('registry.other-process');
    const folder = path.join(ownConfig, 'sessions');
    const entry = new StandIn(alive.pid, ownConfig, world.dir).entry();
    writeFileSync(path.join(folder, `${dead}.json`), JSON.stringify({ ...entry, pid: dead }));
    writeFileSync(path.join(folder, '99999999999999999999.json'), JSON.stringify(entry));
    writeFileSync(path.join(folder, '0.json'), JSON.stringify({ ...entry, pid: 0 }));
    writeFileSync(path.join(folder, '-1.json'), JSON.stringify(entry));
    writeFileSync(path.join(folder, `${alive.pid}.json`), JSON.stringify({ ...entry, procStart: '12345' }));
    await world.counterGrows('registry.other-process', before);
    await isNoAgent('none');
    const { agents } = await world.status();
    expect(agents.filter((agent) => agent.tmux === null)).toEqual([]);
  });

  it('a good entry is found among 6,000 stale ones, quickly and without effort', async () => {
    const folder = path.join(ownConfig, 'sessions');
    for (let count = 0; count < 6_000; count += 1) {
      // Beyond the highest pid there can be, and listed before the others.
      writeFileSync(path.join(folder, `${1_000_000_000 + count}.json`), '{"pid":1,"sessionId":"00000000"}');
    }
    const children = [process_(), process_(), process_(), process_()];
    for (const { pid } of children) {
      new StandIn(pid, ownConfig, world.scenario.home).register({ status: 'waiting', waitingFor: 'input needed' });
    }
    for (const { pid } of children) {
      const seen = await world.agentIs(`home-${pid}`, 'waiting/question');
      expect(seen).toMatchObject({ tmux: null, authority: 'observe' });
    }
    const beforeMs = cpuMs(world.daemonPid());
    const sinceMs = performance.now();
    await until('five seconds of watching', () => performance.now() - sinceMs > 5_000);
    const share = (cpuMs(world.daemonPid()) - beforeMs) / (performance.now() - sinceMs);
    console.log(`6,000 stale registry files: ${(share * 100).toFixed(1)} % of a core, ${world.memory().now} MB`);
    expect(share).toBeLessThan(0.15);
    expect((await world.run('status')).ms).toBeLessThan(answerMs);
    children[0]?.kill('SIGKILL');
    await world.agentIs(`home-${children[0]?.pid}`, 'ended');
  });
});

describe.skipIf(!root)("another user's", () => {
  it('process in our own pane is no agent, and nothing of it is read', async () => {
    // Everything it needs to pass for a client, if it were ours.
    const folder = path.join(world.dir, 'theirs');
    const config = path.join(folder, 'config');
    mkdirSync(config, { recursive: true });
    // Where another user gets in, whatever folder the tests were given.
    const open = mkdtempSync('/tmp/wk-theirs-');
    onTestFinished(() => rmSync(open, { recursive: true, force: true }));
    chmodSync(open, 0o755);
    const program = path.join(open, '@anthropic-ai/claude-code/bin/claude');
    mkdirSync(path.dirname(program), { recursive: true });
    copyFileSync('/usr/bin/sleep', program);
    const before = await world.counter('process.foreign');
    const drop = ['setpriv', `--reuid=${stranger}`, `--regid=${stranger}`, '--clear-groups'];
    const pid = await openPane(world.tmux, 'theirs-ps', world.dir, { CLAUDE_CONFIG_DIR: config }, [
      ...drop,
      program,
      'infinity',
    ]);
    await until('it is theirs', () => readFileSync(`/proc/${pid}/status`, 'utf8').includes(`Uid:\t${stranger}`));
    const theirs = new StandIn(pid, config, folder);
    theirs.register({ status: 'busy' });
    theirs.turn(666_000);
    await world.counterGrows('process.foreign', before);
    const opened = await filesOpened(() => isNoAgent('theirs-ps'));
    expect(opened).not.toEqual([]);
    expect(opened.filter((file) => file.startsWith(folder))).toEqual([]);
    expect(opened.filter((file) => file.startsWith(`/proc/${pid}/environ`))).toEqual([]);
    expect(existsSync(`/proc/${pid}`)).toBe(true);
  });

  it('registry file in our own folder vouches for nobody', async () => {
    const child = spawn('sleep', ['infinity'], { stdio: 'ignore' });
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    const agent = new StandIn(child.pid ?? 0, ownConfig, world.scenario.home);
    const before = await world.counter('registry.foreign');
    mkdirSync(path.join(world.dir, 'aside'));
    const aside = path.join(world.dir, 'aside', 'entry.json');
    writeFileSync(aside, JSON.stringify(agent.entry()));
    chownSync(aside, stranger, stranger);
    spawnSync('mv', [aside, agent.registryFile]);
    await world.counterGrows('registry.foreign', before);
    await isNoAgent(`home-${child.pid}`);
    chownSync(agent.registryFile, 0, 0);
    await world.agentIs(`home-${child.pid}`, 'idle');
  });
});

function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The paths the daemon opens meanwhile; where strace cannot be used, the test has only the outcome to go by. */
async function filesOpened(work: () => Promise<void>): Promise<string[]> {
  const output = path.join(world.dir, 'opened.txt');
  const argv = ['-f', '-e', 'trace=open,openat', '-o', output, '-p', String(world.daemonPid())];
  const tracer = spawn('strace', argv, { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => {
    tracer.once('error', () => resolve());
    tracer.once('exit', () => resolve());
  });
  const traced = await until(
    'the trace began',
    () => existsSync(output) && readFileSync(output).length > 0,
    5_000,
  ).catch(() => false);
  await work();
  tracer.kill('SIGTERM');
  await ended;
  if (!traced) return ['not traced'];
  return [...readFileSync(output, 'utf8').matchAll(/open(?:at)?\([^"]*"([^"]*)"/g)].map((match) => match[1] ?? '');
}
