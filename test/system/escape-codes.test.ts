// No control character from an agent reaches terminal, log or database unescaped.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { emptyEnvironment } from '../clients/agent.ts';
import { watchkeeperProgram } from '../clients/scenario.ts';
import { apiError, openPane, openStandIn, prompt, reply, type StandIn, standInProgram, turnEnd } from './stand-in.ts';
import { openWorld, type World } from './world.ts';

/** What a hostile name does: colours, a new title, a cleared screen, another line, C1, right-to-left, invisible, NUL. */
const evil =
  'x\u001b[31m\u001b]0;owned\u0007\u001b[2J\r\nwatchkeeper: all is well\u009b1m\u202e\u2066\u200b\u2028\u007f\u0000\b\ufeff';
/** As far as a file name can. */
const evilName = evil.replaceAll(/[\u0000/]/g, '');
/** Everything but the line ends we write ourselves. */
const unsafe =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/u;

let world: World;
let agent: StandIn;
let up: ChildProcess;
let shown = '';

beforeAll(async () => {
  world = await openWorld();
  const configDir = path.join(world.dir, `config${evilName}`);
  const cwd = path.join(world.dir, `project${evilName}`);
  mkdirSync(configDir);
  agent = await openStandIn(world, 'evil', { configDir, cwd });
  await world.tmux.run('select-pane', '-t', 'evil', '-T', evilName);
  // In the foreground, as a person would have it in a terminal.
  const env = {
    ...emptyEnvironment(world.scenario.home),
    WATCHKEEPER_HOME: world.dataDir,
    TMUX_TMPDIR: world.tmux.tmpdir,
  };
  up = spawn(watchkeeperProgram, ['up'], { env, cwd: world.scenario.home, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [up.stdout, up.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
    });
  }
  await until('it watches', () => shown.includes('watching'), 20_000);
});
afterAll(async () => {
  if (up.exitCode === null) {
    up.kill('SIGINT');
    await once(up, 'exit');
  }
  await world.end();
});

function isSafe(text: string): void {
  const at = text.search(unsafe);
  const around = at < 0 ? '' : JSON.stringify(text.slice(Math.max(0, at - 60), at + 60));
  expect(around).toBe('');
}

/** How many strings were looked at. */
async function everyRowIsSafe(): Promise<number> {
  const rows = (await world.run('db', 'export')).stdout.trim().split('\n');
  let strings = 0;
  const look = (value: unknown): void => {
    if (typeof value === 'string') {
      strings += 1;
      isSafe(value);
      expect(value).not.toContain('\n');
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        look(key);
        look(inner);
      }
    }
  };
  for (const row of rows) {
    isSafe(row);
    look(JSON.parse(row));
  }
  return strings;
}

describe('names, titles, tools, models and errors full of escape codes', () => {
  it('are read, and every place they are shown or kept has them escaped', async () => {
    agent.register({ cwd: agent.cwd, version: evil, status: 'idle' });
    agent.write(prompt(evil), reply({ model: evil, tool: { id: evil, name: evil } }));
    agent.register({ status: 'busy', version: evil });
    const working = await world.agentIs('evil', 'working/tool');
    expect(working.tool).toContain('\\x1b[31m');
    agent.write(
      {
        type: 'user',
        message: { content: [{ type: 'tool_result', tool_use_id: evil }] },
        toolUseResult: { backgroundTaskId: evil },
      },
      { type: 'system', subtype: 'compact_boundary', compactMetadata: { trigger: evil } },
      { type: 'queue-operation', operation: 'enqueue', content: evil },
      { type: 'api-request', querySource: 'repl_main_thread', requestDigest: evil },
      apiError(evil, { error: evil }),
    );
    agent.register({ status: 'idle', version: evil });
    const failed = await world.agentIs('evil', (seen) => seen.last_turn === 'failed');
    expect(failed.error).toContain('\\x1b[31m');
    expect(failed.background).toMatchObject([{ kind: 'shell', id: expect.stringContaining('\\x1b') }]);
    expect(failed.cwd).toContain('\\x1b[31m');
    expect(failed.model).toContain('\\x1b[31m');

    await until('rows', async () => (await world.run('events', 'evil')).stdout.includes('api-error'));
    const commands = [
      ['status'],
      ['status', '--json'],
      ['health'],
      ['health', 'evil', '--json'],
      ['events', 'evil'],
      ['events', '--json'],
      ['doctor'],
      ['doctor', '--json'],
      ['health', evilName],
      ['events', evilName],
    ];
    for (const command of commands) {
      const said = await world.run(...command);
      isSafe(said.stdout);
      isSafe(said.stderr);
      expect(`${said.stdout}${said.stderr}`).not.toMatch(/^watchkeeper: all is well/m);
    }
    isSafe(shown);
    isSafe(world.log());
  });

  it('are escaped in every column of every row', async () => {
    expect(await everyRowIsSafe()).toBeGreaterThan(100);
  });

  it('a session renamed to them keeps its agent, and its new place is escaped', async () => {
    await world.tmux.run('rename-session', '-t', 'evil', evilName);
    const renamed = await world.agentIs('evil', (seen) => seen.tmux?.session !== 'evil');
    expect(renamed.tmux?.pane).toMatch(/^%\d+$/);
    isSafe(JSON.stringify(renamed));
    isSafe((await world.run('status', '--json')).stdout);
  });

  it('a tmux server whose socket is named like that is watched, and named escaped', async () => {
    const other = world.otherTmux('sock\u001b[31m\u009b\u202e\n');
    const cwd = path.join(world.dir, 'plain');
    mkdirSync(cwd);
    // The same session name on two servers: the second agent's name takes the socket's along.
    await openPane(other, 'evil', cwd, {}, [standInProgram(world), 'infinity']);
    await openPane(other, 'evil2', cwd, {}, [standInProgram(world), 'infinity']);
    await world.agentIs('evil2', (seen) => seen.tmux !== null);
    for (const command of [['status'], ['status', '--json'], ['doctor'], ['doctor', '--json']]) {
      isSafe((await world.run(...command)).stdout);
    }
    isSafe(shown);
    await everyRowIsSafe();
    await other.run('kill-server');
  });

  it('a project name of emoji, cut for a narrow column, does not stop the rows', async () => {
    const cwd = path.join(world.dir, `${'p'.repeat(49)}😀😀`);
    const emoji = await openStandIn(world, 'emoji', { cwd });
    emoji.turn();
    emoji.write(prompt(), apiError('x'));
    await world.agentIs('emoji', (seen) => seen.findings.length > 0);
    const rows = () =>
      world.query<{ project: string }>(
        "SELECT h.project FROM health_checks h JOIN agents a ON a.id = h.agent_id WHERE a.name = 'emoji' AND check_type = 'silent-stop'",
      );
    const [row] = await until('its health on record', async () => ((await rows()).length > 0 ? rows() : null));
    expect(row?.project).toBe(`${'p'.repeat(49)}\ufffd`);
    expect(await world.counter('store.refused')).toBe(0);
    emoji.write(turnEnd());
  });
});
