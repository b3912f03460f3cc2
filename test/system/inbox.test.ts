// What hooks leave in the inbox: taken once, in order, by the agent it belongs to; everything else changes a counter.
import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hookScript } from '../../src/clients/claude-code/hook-script.ts';
import { inboxFilesMax } from '../../src/clients/inbox.ts';
import { until } from '../../src/conform/until.ts';
import { openStandIn, type StandIn } from './stand-in.ts';
import { openWorld, testWorld, type World, waitMs } from './world.ts';

const root = process.getuid?.() === 0;
let world: World;
let count = 0;

beforeAll(async () => {
  world = await openWorld();
  await world.tmux.run('new-session', '-d', '-s', 'keeper', '--', 'sleep', 'infinity');
  await world.up();
});
afterAll(() => world.end());

function inboxOf(of: World): string {
  return path.join(of.dataDir, 'inbox');
}

/** As the script writes it: whole, under a name of its own, by rename. */
function leave(of: World, text: string, kind = 'hook'): string {
  count += 1;
  const file = path.join(inboxOf(of), `${count}-${randomUUID().slice(0, 8)}`);
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, `${file}.${kind}`);
  return `${file}.${kind}`;
}

function startOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

function event(agent: StandIn, name: string, fields: Record<string, unknown> = {}): string {
  const body = { session_id: agent.sessionId, cwd: agent.cwd, hook_event_name: name, ...fields };
  return `wk1 hook ${agent.pid} ${startOf(agent.pid)}\n${JSON.stringify(body)}`;
}

async function emptied(of: World): Promise<void> {
  await until('the inbox is empty', () => readdirSync(inboxOf(of)).length === 0, waitMs);
}

describe('an agent without a registry entry', () => {
  it('is known by its hooks: its session, its turns, its tools and its dialogs', async () => {
    const agent = await openStandIn(world, 'hooked', { unregistered: true });
    await world.agentIs('hooked', 'unknown/unreadable');
    const say = (name: string, fields: Record<string, unknown> = {}) => leave(world, event(agent, name, fields));
    say('SessionStart', { source: 'startup' });
    const fresh = await world.agentIs('hooked', 'idle');
    expect(fresh).toMatchObject({ session_id: agent.sessionId, source: 'hook', last_turn: null });
    say('UserPromptSubmit', { prompt: 'do it' });
    await world.agentIs('hooked', 'working/thinking');
    say('PreToolUse', { tool_name: 'Bash', tool_use_id: 'a' });
    await world.agentIs('hooked', (seen) => seen.detail === 'tool' && seen.tool === 'Bash');
    say('PermissionRequest', { tool_name: 'Bash' });
    await world.agentIs('hooked', 'waiting/permission');
    say('PostToolUse', { tool_name: 'Bash', tool_use_id: 'a' });
    await world.agentIs('hooked', 'working/thinking');
    say('PreCompact', { trigger: 'auto' });
    await world.agentIs('hooked', 'compacting');
    say('PostCompact', { trigger: 'auto' });
    await world.agentIs('hooked', 'working/thinking');
    say('StopFailure', { error: 'server_error', last_assistant_message: 'API Error' });
    const failed = await world.agentIs('hooked', 'idle');
    expect(failed.last_turn).toBe('failed');
    await emptied(world);
    const told = await world.query<{ event: string }>(
      "SELECT e.data->>'event' AS event FROM events e JOIN agents a ON a.id = e.agent_id WHERE a.name = 'hooked' AND e.kind = 'hook' ORDER BY e.at",
    );
    expect(told.map((row) => row.event)).toEqual([
      'SessionStart',
      'UserPromptSubmit',
      'PreToolUse',
      'PermissionRequest',
      'PostToolUse',
      'PreCompact',
      'PostCompact',
      'StopFailure',
    ]);
  });

  it('has context, cost and limits by its status line', async () => {
    const agent = await openStandIn(world, 'lined', { unregistered: true });
    const resets = Math.floor(Date.now() / 1000) + 3_600;
    const line = {
      session_id: agent.sessionId,
      model: { id: 'claude-opus-5-5' },
      cost: { total_cost_usd: 1.25 },
      context_window: { context_window_size: 200_000, total_input_tokens: 50_000, current_usage: { input_tokens: 1 } },
      rate_limits: { five_hour: { used_percentage: 80, resets_at: resets } },
    };
    leave(world, `wk1 statusline ${agent.pid} ${startOf(agent.pid)}\n${JSON.stringify(line)}`, 'statusline');
    const seen = await world.agentIs('lined', (agent) => agent.context !== null);
    expect(seen).toMatchObject({
      session_id: agent.sessionId,
      model: 'claude-opus-5-5',
      cost_usd: 1.25,
      context: { used: 50_000, window: 200_000, usable: 180_000, percent: 25, source: 'statusline' },
      limits: [{ name: 'five_hour', percent: 80, resets_at: new Date(resets * 1000).toISOString() }],
    });
  });
});

describe('what is not as it should be changes a counter, and no state', () => {
  const bad: [string, string, (agent: StandIn) => string][] = [
    ['a body that is not JSON', 'inbox.invalid', (agent) => `wk1 hook ${agent.pid} ${startOf(agent.pid)}\nnonsense`],
    ['no head', 'inbox.invalid', (agent) => event(agent, 'UserPromptSubmit').split('\n')[1] ?? ''],
    ['an empty file', 'inbox.invalid', () => ''],
    ['binary', 'inbox.invalid', () => '\u0000\u0001\u0002'],
    [
      'a session id that is a path',
      'inbox.invalid',
      (agent) => event(agent, 'UserPromptSubmit', { session_id: '../../x' }),
    ],
    [
      "another session's id",
      'hook.other-session',
      (agent) => event(agent, 'UserPromptSubmit', { session_id: randomUUID() }),
    ],
    [
      'the start of a client within',
      'hook.other-session',
      (agent) => event(agent, 'SessionStart', { session_id: randomUUID(), source: 'startup' }),
    ],
    ['an event nobody knows', 'hook.unknown-event', (agent) => event(agent, 'BrandNew')],
    ['more than a hook can write', 'inbox.too-big', (agent) => event(agent, 'Stop', { x: 'x'.repeat(200_000) })],
  ];
  it.each(bad)('%s', async (_what, counter, text) => {
    count += 1;
    const name = `odd${count}`;
    const agent = await openStandIn(world, name);
    agent.turn(1_000);
    await world.agentIs(name, 'idle');
    leave(world, event(agent, 'SessionStart', { source: 'startup' }));
    await emptied(world);
    const before = await world.counter(counter);
    leave(world, text(agent));
    await world.counterGrows(counter, before);
    await emptied(world);
    expect(await world.agent(name)).toMatchObject({ state: 'idle', session_id: agent.sessionId });
  });

  it('an event of a process that is no agent goes after a while', async () => {
    const before = await world.counter('inbox.nobody');
    leave(
      world,
      `wk1 hook ${process.pid} ${startOf(process.pid)}\n{"session_id":"${randomUUID()}","hook_event_name":"Stop"}`,
    );
    leave(world, `wk1 hook - -\n{"session_id":"${randomUUID()}","hook_event_name":"Stop"}`);
    await until('both gone', async () => (await world.counter('inbox.nobody')) === before + 2, 30_000);
    await emptied(world);
  });

  it('links, pipes, folders and other users’ files are neither read nor touched', async () => {
    const inbox = inboxOf(world);
    const secret = path.join(world.dir, 'secret');
    writeFileSync(secret, 'secret');
    symlinkSync(secret, path.join(inbox, 'link.hook'));
    execFileSync('mkfifo', [path.join(inbox, 'pipe.hook')]);
    mkdirSync(path.join(inbox, 'folder.hook'));
    const strange = ['link.hook', 'pipe.hook', 'folder.hook'];
    if (root) {
      writeFileSync(path.join(inbox, 'foreign.new'), 'x');
      chownSync(path.join(inbox, 'foreign.new'), 54_321, 54_321);
      renameSync(path.join(inbox, 'foreign.new'), path.join(inbox, 'foreign.hook'));
      strange.push('foreign.hook');
    }
    await until('they are counted', async () => (await world.counter('inbox.not-regular')) >= 3, waitMs);
    const agent = await openStandIn(world, 'beside');
    leave(world, event(agent, 'SessionStart', { source: 'startup' }));
    await until('the good one is taken', () => readdirSync(inbox).length === strange.length, waitMs);
    expect(readdirSync(inbox).sort()).toEqual(strange.sort());
    expect(readFileSync(secret, 'utf8')).toBe('secret');
    for (const name of strange) rmSync(path.join(inbox, name), { recursive: true });
  });

  it('a flood of 10,000 is worked off, and what comes after it counts', async () => {
    const agent = await openStandIn(world, 'flooded', { unregistered: true });
    leave(world, event(agent, 'SessionStart', { source: 'startup' }));
    await world.agentIs('flooded', 'idle');
    for (let n = 0; n < 10_000; n += 1)
      leave(world, event(agent, 'PostToolUse', { tool_name: 'Bash', tool_use_id: `${n}` }));
    leave(world, event(agent, 'UserPromptSubmit', { prompt: 'and now' }));
    await world.agentIs('flooded', 'working/thinking', 60_000);
    await until('the inbox is empty', () => readdirSync(inboxOf(world)).length === 0, 60_000);
    expect(world.memory().now).toBeLessThan(200);
    expect(world.log()).not.toMatch(/failed/);
  }, 150_000);
});

it('what hooks say while the daemon is down or killed is there once when it is back', async () => {
  const own = await testWorld();
  await own.tmux.run('new-session', '-d', '-s', 'keeper', '--', 'sleep', 'infinity');
  const agent = await openStandIn(own, 'worker', { unregistered: true });
  await own.up();
  leave(own, event(agent, 'SessionStart', { source: 'startup' }));
  await own.agentIs('worker', 'idle');
  process.kill(own.daemonPid(), 'SIGKILL');
  leave(own, event(agent, 'UserPromptSubmit', { prompt: 'one' }));
  leave(own, event(agent, 'PreToolUse', { tool_name: 'Bash', tool_use_id: 'a' }));
  await own.up();
  await own.agentIs('worker', (seen) => seen.tool === 'Bash');
  await until('settled', () => readdirSync(inboxOf(own)).length === 0, waitMs);
  const rows = await own.query<{ event: string }>(
    "SELECT data->>'event' AS event FROM events WHERE kind = 'hook' ORDER BY at",
  );
  expect(rows.map((row) => row.event)).toEqual(['SessionStart', 'UserPromptSubmit', 'PreToolUse']);
  // Their files are gone now; what they said is not.
  process.kill(own.daemonPid(), 'SIGKILL');
  await own.up();
  const known = await own.agentIs('worker', (seen) => seen.tool === 'Bash');
  expect(known.source).toBe('hook');
});

describe('the hook script never disturbs the agent', () => {
  const shells = ['dash', 'bash'].filter((shell) => existsSync(`/bin/${shell}`));

  function script(inbox: string): string {
    const file = path.join(world.dir, `script-${randomUUID().slice(0, 8)}.sh`);
    writeFileSync(file, hookScript(inbox, path.join(world.dir, 'allowances')));
    chmodSync(file, 0o700);
    return file;
  }

  function call(shell: string, file: string, args: string[], input: string | Buffer) {
    const { status, stdout, stderr, error } = spawnSync(`/bin/${shell}`, [file, ...args], { input, timeout: 20_000 });
    return { status, said: `${stdout}${stderr}`, broken: (error as NodeJS.ErrnoException | undefined)?.code ?? null };
  }

  it.each(shells)('under %s it takes a body of 10 MB whole from the client and keeps the beginning', (shell) => {
    const inbox = path.join(world.dir, `inbox-${shell}`);
    mkdirSync(inbox);
    const body = JSON.stringify({
      session_id: randomUUID(),
      hook_event_name: 'PostToolUse',
      x: 'x'.repeat(10_000_000),
    });
    expect(call(shell, script(inbox), ['hook'], body)).toEqual({ status: 0, said: '', broken: null });
    const [name = ''] = readdirSync(inbox);
    expect(name).toMatch(/^\d+-\d+\.hook$/);
    const { size } = statSync(path.join(inbox, name));
    expect(size).toBeGreaterThan(10_000);
    expect(size).toBeLessThanOrEqual(128 * 1024);
  });

  it.each(shells)('under %s without an inbox, or one it may not write to, it is silent', (shell) => {
    const file = path.join(world.dir, `no-folder-${shell}`);
    writeFileSync(file, '');
    for (const inbox of [path.join(world.dir, 'nowhere'), file]) {
      const body = '{"session_id":"aaaaaaaa","hook_event_name":"Stop"}';
      expect(call(shell, script(inbox), ['hook'], body)).toEqual({ status: 0, said: '', broken: null });
    }
  });

  it.each(shells)('under %s an existing status line keeps its output, whatever happens to ours', (shell) => {
    const body = '{"session_id":"aaaaaaaa","model":{"id":"m"}}';
    for (const inbox of [inboxOf(world), path.join(world.dir, 'nowhere')]) {
      const said = call(shell, script(inbox), ['statusline', "cat; printf ' it'\\''s mine'"], body);
      expect(said).toEqual({ status: 0, said: `${body}\n it's mine`, broken: null });
    }
  });

  it('a full inbox takes nothing more, and doctor says so', async () => {
    const home = path.join(world.dir, 'full');
    const inbox = path.join(home, 'inbox');
    mkdirSync(inbox, { recursive: true });
    for (let n = 0; n < inboxFilesMax; n += 1) writeFileSync(path.join(inbox, `${n}.hook`), '');
    const body = '{"session_id":"aaaaaaaa","hook_event_name":"Stop"}';
    expect(call('sh', script(inbox), ['hook'], body)).toEqual({ status: 0, said: '', broken: null });
    expect(readdirSync(inbox)).toHaveLength(inboxFilesMax);
    const doctor = async () => {
      const said = await world.scenario.watchkeeper(['doctor', '--json'], { env: { WATCHKEEPER_HOME: home } });
      return said.json<{ checks: { name: string; ok: boolean }[] }>().checks.find(({ name }) => name === 'inbox');
    };
    expect(await doctor()).toMatchObject({ ok: false });
    rmSync(path.join(inbox, '0.hook'));
    expect(await doctor()).toMatchObject({ ok: true });
    rmSync(home, { recursive: true });
  });
});
