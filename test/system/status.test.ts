// What `status` looks like, on terminals and pipes of every kind, whatever the daemon does: it is a daemon's door without a daemon.
import { execFile, spawnSync } from 'node:child_process';
import { chownSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { emptyEnvironment } from '../../src/conform/environment.ts';
import { watchkeeperProgram } from '../../src/conform/sandbox.ts';
import { openPane } from '../../src/conform/terminal.ts';
import { until } from '../../src/conform/until.ts';
import { type ControlServer, serveControl } from '../../src/daemon/control.ts';
import { type AgentDocument, agentDocument, type StatusDocument } from '../../src/daemon/status.ts';
import { findHome, removeDaemonRecord, writeDaemonRecord } from '../../src/home/home.ts';
import type { Ask } from '../../src/model/agent.ts';
import { ownProcess } from '../../src/record/own-process.ts';
import { agentView } from '../runs/agent-view.ts';
import { openWorld, type World } from './world.ts';

let world: World;
let door: ControlServer | null = null;

beforeEach(async () => {
  world = await openWorld();
});
afterEach(async () => {
  door?.close();
  door = null;
  // Else it would be stopped as a daemon is.
  removeDaemonRecord(findHome({ WATCHKEEPER_HOME: world.dataDir }));
  await world.tmux.ask('kill-server');
  await world.end();
});

function agent(name: string, asks: Ask | null): AgentDocument {
  const nowMs = Date.now();
  const view = agentView(asks === null ? 'working' : 'waiting', asks === null ? 'tool' : 'permission', 0, {
    agent: name,
    asks,
  });
  const seen = { ...view, reading: { ...view.reading, sinceMs: nowMs - 3 * 60_000, seenAtMs: nowMs } };
  const next = {
    check: 'waiting-human',
    subject: null,
    at: new Date(nowMs).toISOString(),
    what: 'you were told, again',
  };
  const hold = { by: 'us', pid: null, home: null, problem: null } as unknown as AgentDocument['hold'];
  const none = { handoff: null, hold, handoff_waits: false, resume: null };
  return {
    ...agentDocument({ ...seen, findings: [] }, 'h', [], nowMs),
    ...none,
    needs_you: asks !== null,
    next: asks === null ? [] : [next],
  };
}

/** A daemon in this process that says this, or never says anything. */
async function daemonSays(agents: AgentDocument[] | 'nothing'): Promise<void> {
  const home = findHome({ WATCHKEEPER_HOME: world.dataDir });
  mkdirSync(home.dir, { recursive: true, mode: 0o700 });
  const since = new Date().toISOString();
  const document = (shown: AgentDocument[]): StatusDocument => ({
    v: 1,
    daemon: {
      ...{
        pid: process.pid,
        since,
        paused: false,
        mode: 'act',
        watch_only: false,
        quiet_until: null,
        config_missing: [],
        tick_ms: 2_000,
        bands: [30, 50, 70, 85],
      },
      prompts: { given: 0, in_time: 0 },
    },
    agents: shown,
    needs_you: shown.filter(({ needs_you: needsYou }) => needsYou).map((one) => one.agent),
    findings: [],
  });
  const opened = await serveControl(home, () =>
    agents === 'nothing' ? new Promise(() => {}) : Promise.resolve({ line: `${JSON.stringify(document(agents))}\n` }),
  );
  if (!opened.ok) throw new Error(opened.message);
  door = opened.value;
  const own = ownProcess();
  if (own === null) throw new Error('no /proc');
  writeDaemonRecord(home, { ...own, startedAt: since, version: '0', sockets: { control: door.path } });
}

const asks: Ask = { tool: 'Bash', text: 'rm -rf build', source: 'hook' };
const crew = () => [agent('shop-ps', null), agent('docs-ps', asks)];

/** A terminal of this size in which a person calls the program. */
async function terminal(columns: number, rows: number, args: string[], env: Record<string, string> = {}) {
  const environment = {
    ...emptyEnvironment(world.scenario.home),
    WATCHKEEPER_HOME: world.dataDir,
    NO_COLOR: '1',
    ...env,
  };
  const words = [process.execPath, watchkeeperProgram, ...args].map((word) => `'${word}'`).join(' ');
  // bash goes on after a program that ends by itself at Ctrl-C.
  const argv = ['bash', '-c', `echo before; ${words} 2>&1; echo "(end $?)"; exec sleep 100`];
  return openPane(world.tmux, `t${columns}`, { argv, cwd: world.dir, env: environment }, 'direct', null, {
    columns,
    rows,
  });
}

async function onTerminal(columns: number, args: string[], env: Record<string, string> = {}): Promise<string[]> {
  const pane = await terminal(columns, 100, args, env);
  let screen = '';
  await until('the end of the command', async () => {
    screen = await pane.screen();
    return screen.includes('(end ');
  });
  await world.tmux.run('kill-session', '-t', `=t${columns}`);
  return screen
    .slice(screen.indexOf('before') + 7, screen.indexOf('(end '))
    .trimEnd()
    .split('\n');
}

/** The quickest of some: what the machine has to do besides is not the program's. */
async function quickest(...args: string[]) {
  const tries = [await world.run(...args), await world.run(...args), await world.run(...args)];
  return tries.reduce((best, one) => (one.ms < best.ms ? one : best));
}

describe('never slower than a second', () => {
  /** How long a start alone takes at this moment. */
  let startMs = 0;
  beforeEach(async () => {
    startMs = (await quickest('--version')).ms;
  });

  it.each([[['status']], [['status', '--json']], [['status', '--watch']]])(
    'with a daemon that hangs: %j',
    async (args) => {
      await daemonSays('nothing');
      const said = await quickest(...args);
      expect([said.code, said.stderr]).toEqual([
        3,
        'watchkeeper: the daemon does not answer: see `watchkeeper doctor`\n',
      ]);
      expect(said.ms - startMs).toBeLessThan(1_000);
    },
  );

  it('with 200 agents, some of which have names of all kinds', async () => {
    const names = Array.from({ length: 200 }, (_, n) => `${['a', '長い', '🎉', 'שלום'][n % 4]}-${n}`);
    await daemonSays(names.map((name, n) => agent(name, n % 5 === 0 ? asks : null)));
    const said = await quickest('status');
    expect([said.code, said.stderr, said.stdout.split('\n').length]).toEqual([0, '', 204]);
    expect(said.ms - startMs).toBeLessThan(1_000);
  });

  it('with something in the place of its own files that never ends', async () => {
    mkdirSync(world.dataDir, { recursive: true, mode: 0o700 });
    spawnSync('mkfifo', [path.join(world.dataDir, 'daemon.json')]);
    const said = await quickest('status');
    expect([said.code, said.stderr]).toEqual([
      3,
      'watchkeeper: no daemon is running: start it with `watchkeeper up`\n',
    ]);
    expect(said.ms - startMs).toBeLessThan(1_000);
  });
});

describe('on a terminal', () => {
  it('of 40, 80 and 300 columns no line runs over, whatever agents are called', async () => {
    await daemonSays([agent('日本語🎉'.repeat(9), asks), agent('שלוםم-ps', asks), ...crew()]);
    for (const columns of [40, 80, 300]) {
      const pane = await terminal(columns, 100, ['status']);
      await until('the end of the command', async () => (await pane.screen()).includes('(end 0)'));
      const lines = await pane.screen();
      expect(lines.replaceAll(/\s+/g, ' ')).toMatch(/waiting 3m for you: Bash rm -rf build; ?you were told, again at/);
      // Told apart from lines that are whole: those that run over are joined.
      expect(await world.tmux.ask('capture-pane', '-p', '-J', '-N', '-t', pane.pane ?? '')).toSatisfy(
        (joined: string) => joined.trimEnd().split('\n').length === lines.trimEnd().split('\n').length,
      );
    }
  });

  it('without UTF-8 only what every terminal has is written', async () => {
    await daemonSays([agent('日本-ps', { ...asks, text: `${'long '.repeat(60)}…` }), ...crew()]);
    const lines = await onTerminal(80, ['status'], { LC_ALL: 'C', LANG: 'C' });
    expect(lines.join('\n')).toMatch(/^[\x20-\x7e\n]*$/);
    expect(lines.join('\n')).toContain('??-ps');
  });

  it('of another zone the times are that one’s', async () => {
    await daemonSays(crew());
    const hour = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'Asia/Kathmandu' });
    const before = hour.format(Date.now() - 60_000);
    const lines = (await onTerminal(80, ['status'], { TZ: 'Asia/Kathmandu' })).join(' ');
    const shown = /again at +(?:\d\d-\d\d )?(\d\d:\d\d)/.exec(lines)?.[1] ?? '';
    const minutes = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
    expect((minutes(shown) - minutes(before) + 1_440) % 1_440).toBeLessThan(3);
  });

  it('it is redrawn in place, also when the size changes, and what was there before is there again at the end', async () => {
    await daemonSays(crew());
    const pane = await terminal(80, 24, ['status', '--watch']);
    const facts = async () =>
      (await world.tmux.ask('display-message', '-p', '-t', pane.pane ?? '', '#{alternate_on} #{cursor_flag}'))?.trim();
    await until('the table', async () => (await pane.screen()).includes('docs-ps  waiting/permission'));
    expect(await facts()).toBe('1 0');
    expect(await pane.screen()).not.toContain('before');
    await world.tmux.run('resize-window', '-t', '=t80:', '-x', '40', '-y', '6');
    await until('what fits now', async () => (await pane.screen()).includes('more lines'));
    const rows = (await pane.screen()).trimEnd().split('\n');
    expect([rows.length, rows[0]]).toEqual([6, '1 needs you: docs-ps (`watchkeeper']);
    door?.close();
    await until('the daemon gone', async () => /watchkeeper: (no daemon|the daemon)/.test(await pane.screen()));
    await daemonSays([agent('new-ps', null)]);
    await until('the daemon back', async () => (await pane.screen()).includes('nobody needs you'));
    await pane.keys('C-c');
    await until('the end', async () => /before\n\(end 130\)/.test(await pane.screen()));
    expect(await facts()).toBe('0 1');
  });

  it('colours are for terminals that want them', async () => {
    await daemonSays(crew());
    expect((await world.run('status')).stdout).not.toContain('\u001b');
    const pane = await terminal(80, 24, ['status'], { NO_COLOR: '' });
    await until('the table', async () => (await pane.screen()).includes('(end 0)'));
    const coloured = await world.tmux.ask('capture-pane', '-p', '-e', '-t', pane.pane ?? '');
    expect(coloured).toContain('\u001b[33mwaiting/permission');
  });
});

it('a pipe gets every column and whole lines, is drawn anew below, and may close', async () => {
  const long = 'word '.repeat(80).trim();
  await daemonSays([agent('docs-ps', { ...asks, text: long })]);
  const { stdout } = await world.run('status');
  expect(stdout.split('\n').filter((line) => line.startsWith('docs-ps'))[0]).toContain(
    `registry  manage  waiting 3m for you: Bash ${long};`,
  );
  const env = { ...emptyEnvironment(world.scenario.home), WATCHKEEPER_HOME: world.dataDir };
  const words = `'${process.execPath}' '${watchkeeperProgram}' status --watch 2>${world.dir}/err | head -n 9; cat ${world.dir}/err`;
  const out = await new Promise<string>((resolve) =>
    execFile('sh', ['-c', words], { env }, (_error, text) => resolve(text)),
  );
  expect(out.match(/^1 needs you: docs-ps/gm)?.length).toBeGreaterThan(1);
  expect(out).not.toContain('\u001b');
  expect(out.split('\n').slice(9).join('')).toBe('');
});

describe('one clear line each', () => {
  const commands = [
    ['status'],
    ['inbox'],
    ['health'],
    ['why', 'a-ps'],
    ['prompt', 'a-ps', 'x'],
    ['ack', 'x'],
    ['status', '--watch'],
  ];

  it.each(commands)('without a daemon: %s %s', async (...args) => {
    const said = await world.run(...args.filter((word) => word !== undefined));
    expect([said.code, said.stdout, said.stderr]).toEqual([
      3,
      '',
      'watchkeeper: no daemon is running: start it with `watchkeeper up`\n',
    ]);
  });

  it.runIf(process.getuid?.() === 0).each(commands)("in another user's data directory: %s %s", async (...args) => {
    mkdirSync(world.dataDir, { recursive: true, mode: 0o700 });
    chownSync(world.dataDir, 65_534, 65_534);
    const said = await world.run(...args.filter((word) => word !== undefined));
    expect([said.code, said.stdout]).toEqual([2, '']);
    expect(said.stderr).toMatch(/^watchkeeper: the data directory \S+ belongs to .*\n$/);
  });
});
