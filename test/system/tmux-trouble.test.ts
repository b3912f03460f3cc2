// A tmux server that hangs, is gone or comes back: no agent is said to have ended whose process lives, the others are
// watched all the while, and everything recovers by itself.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLineOf, isRunning } from '../../src/conform/processes.ts';
import type { Tmux } from '../../src/conform/tmux.ts';
import { until } from '../../src/conform/until.ts';
import { userTmux } from '../../src/sense/tmux/servers.ts';
import { openPane, openStandIn, type StandIn, standInProgram } from './stand-in.ts';
import { answerMs, openWorld, type World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
  await world.tmux.run('new-session', '-d', '-s', 'keeper', '--', 'sleep', 'infinity');
  await world.up();
});
afterAll(() => world.end());

async function serverPid(tmux: Tmux): Promise<number> {
  return Number(await tmux.run('display-message', '-p', '#{pid}'));
}

/** A new server can take the socket only once the old one is gone. */
async function killServer(tmux: Tmux): Promise<void> {
  const pid = await serverPid(tmux);
  process.kill(pid, 'SIGKILL');
  await until('the server is gone', () => !isRunning(pid));
}

async function agentRows(pattern: string): Promise<string[]> {
  const rows = await world.query<{ name: string }>('SELECT name FROM agents WHERE name ~ $1 ORDER BY name', [pattern]);
  return rows.map((row) => row.name);
}

describe('a tmux server that hangs', () => {
  let stopped: Tmux;
  let pid = 0;
  let inside: StandIn;
  let beside: StandIn;
  let known: StandIn;

  beforeAll(async () => {
    stopped = world.otherTmux('hanging');
    inside = await openStandIn(world, 'inside-ps', { tmux: stopped });
    // By the registry of the user's own config directory it is found without tmux too.
    known = await openStandIn(world, 'known-ps', {
      tmux: stopped,
      configDir: path.join(world.scenario.home, '.claude'),
    });
    beside = await openStandIn(world, 'beside');
    await world.agentIs('inside-ps', 'idle');
    await world.agentIs('known-ps', 'idle');
    await world.agentIs('beside', 'idle');
    pid = await serverPid(stopped);
    process.kill(pid, 'SIGSTOP');
  });
  afterAll(async () => {
    process.kill(pid, 'SIGCONT');
    await stopped.ask('kill-server');
  });

  it('is named by doctor, and every command still answers quickly', async () => {
    const servers = await until('doctor names it', async () => {
      const check = (await world.doctor()).checks.get('servers');
      return check?.ok === false ? check : null;
    });
    expect(servers.detail).toBe(`${stopped.socket}: hung`);
    expect(await world.counter('tmux.hung')).toBeGreaterThan(0);
    for (const command of ['status', 'health', 'events', 'doctor']) {
      expect((await world.run(command)).ms, command).toBeLessThan(answerMs);
    }
  });

  it('does not hold up the agents of other servers: their changes are seen within 2 s, new ones within 5', async () => {
    let slowestMs = 0;
    for (let round = 0; round < 12; round += 1) {
      const status = round % 2 === 0 ? 'busy' : 'idle';
      const changedMs = performance.now();
      beside.register({ status });
      await world.seen('beside', (agent) => agent.state === (status === 'busy' ? 'working' : 'idle'));
      slowestMs = Math.max(slowestMs, performance.now() - changedMs);
    }
    const openedMs = performance.now();
    await openStandIn(world, 'late');
    await world.seen('late', (agent) => agent.state === 'idle');
    const foundMs = performance.now() - openedMs;
    console.log(
      `while a server hangs: change seen after ${Math.round(slowestMs)} ms, new agent ${Math.round(foundMs)} ms`,
    );
    expect(slowestMs).toBeLessThan(2_000);
    expect(foundMs).toBeLessThan(5_000);
  });

  it('has not lost its agents: they keep place and state, and their own files still tell', async () => {
    for (const agent of [inside, known]) agent.register({ status: 'waiting', waitingFor: 'permission prompt' });
    for (const session of ['inside-ps', 'known-ps']) {
      const waiting = await world.agentIs(session, 'waiting/permission');
      expect(waiting).toMatchObject({ authority: 'manage', tmux: { socket: stopped.socket, session } });
    }
  });

  it('after a restart of the daemon its agents are shown as last seen, with their age, and not as ended', async () => {
    await world.down();
    await world.up();
    const unseen = await world.agentIs('inside-ps', (seen) => seen.stale_s > 1);
    expect(unseen).toMatchObject({ state: 'waiting', detail: 'permission', pid: inside.pid });
    const [row] = await world.query("SELECT state FROM agents WHERE name = 'inside-ps'");
    expect(row).toEqual({ state: 'waiting' });
    // This one is found, and is where it was.
    known.register({ status: 'busy' });
    const found = await world.agentIs('known-ps', 'working/thinking');
    expect(found).toMatchObject({ authority: 'manage', tmux: { socket: stopped.socket, session: 'known-ps' } });
  });

  it('is watched again by itself once it goes on, without having ended an agent', async () => {
    process.kill(pid, 'SIGCONT');
    const goesOnMs = performance.now();
    await until('doctor is content', async () => (await world.doctor()).checks.get('servers')?.ok, 15_000);
    inside.register({ status: 'idle' });
    const back = await world.agentIs('inside-ps', 'idle');
    console.log(`a server that goes on is watched again after ${Math.round(performance.now() - goesOnMs)} ms`);
    expect(back.tmux).toMatchObject({ socket: stopped.socket });
    expect(await agentRows('^inside')).toEqual(['inside-ps']);
    const ends = await world.query("SELECT FROM events WHERE kind = 'state' AND data->>'state' = 'ended'");
    expect(ends).toEqual([]);
  });
});

describe('a tmux server that is gone', () => {
  it('ends the agents whose processes went with it, and no other', async () => {
    const tmux = world.otherTmux('going');
    const gone = await openStandIn(world, 'gone', { tmux });
    const survivor = await openStandIn(world, 'survivor', { tmux, survivesHangup: true });
    await world.agentIs('gone', 'idle');
    await world.agentIs('survivor', 'idle');
    await killServer(tmux);
    await world.agentIs('gone', (seen) => seen.state === 'ended' && seen.pid === gone.pid);
    await world.agentIs('survivor', (seen) => seen.tmux === null);
    survivor.register({ status: 'busy' });
    await world.agentIs('survivor', 'working/thinking');
    // A socket that nobody listens on is left behind by every ended server.
    expect((await world.doctor()).checks.get('servers')?.ok).toBe(true);
    process.kill(survivor.pid, 'SIGKILL');
    await world.agentIs('survivor', 'ended');
  });

  it('and comes back on the same socket: a new agent in a session of the old name has the name', async () => {
    const tmux = world.otherTmux('restarting');
    const before = await openStandIn(world, 'phoenix-ps', { tmux });
    before.turn();
    await world.agentIs('phoenix-ps', (seen) => seen.last_turn === 'ok');
    await killServer(tmux);
    const after = await openStandIn(world, 'phoenix-ps', { tmux });
    const seen = await world.agentIs('phoenix-ps', (agent) => agent.pid === after.pid && agent.state === 'idle');
    expect(seen).toMatchObject({ session_id: after.sessionId, last_turn: null, authority: 'manage' });
    expect(await agentRows('^phoenix')).toEqual(['phoenix-ps']);
    const sessions = await world.query<{ session_id: string; over: boolean }>(
      'SELECT session_id, ended_at IS NOT NULL AS over FROM sessions WHERE agent_id = (SELECT id FROM agents WHERE name = $1)',
      ['phoenix-ps'],
    );
    expect(sessions).toHaveLength(2);
    expect(sessions.find((session) => session.session_id === before.sessionId)?.over).toBe(true);
    expect(sessions.find((session) => session.session_id === after.sessionId)?.over).toBe(false);
  });

  it('while nobody watches: the agent that took over its session has the name, and the old one has ended', async () => {
    const tmux = world.otherTmux('unwatched');
    const before = await openStandIn(world, 'heir-ps', { tmux });
    before.turn();
    await world.agentIs('heir-ps', (seen) => seen.last_turn === 'ok');
    await world.down();
    // Written after the daemon's last look.
    before.turn();
    await killServer(tmux);
    const after = await openStandIn(world, 'heir-ps', { tmux });
    await world.up();
    await world.agentIs('heir-ps', (agent) => agent.pid === after.pid && agent.state === 'idle');
    expect(await agentRows('^heir')).toEqual(['heir-ps']);
    const [row] = await world.query<{ rows: number; over: boolean }>(
      `SELECT count(*)::int AS rows, bool_and(s.ended_at IS NOT NULL) AS over FROM events e JOIN sessions s USING (agent_id, session_id)
       WHERE e.session_id = $1 AND e.source = 'transcript' AND e.kind <> 'state'`,
      [before.sessionId],
    );
    expect(row).toEqual({ rows: 6, over: true });
  });
});

describe('a client started anew again and again in one pane', () => {
  it('keeps the name of its session', async () => {
    const loop = `while :; do '${standInProgram(world)}' 0.7; done`;
    await openPane(world.tmux, 'looper', world.dir, { CLAUDE_CONFIG_DIR: `${world.dir}/none` }, ['sh', '-c', loop]);
    const pids = new Set<number>();
    await until(
      'five of them seen',
      async () => {
        const looper = await world.seen('looper', () => true);
        if (looper.state !== 'ended') pids.add(looper.pid);
        return pids.size >= 5;
      },
      20_000,
    );
    expect(await agentRows('^looper')).toEqual(['looper']);
    await world.tmux.run('kill-session', '-t', '=looper');
    await world.agentIs('looper', 'ended');
  });
});

it('a tmux server asked many things at once has one connection of ours, and none after the end', async () => {
  const pane = (await world.tmux.run('list-panes', '-a', '-F', '#{pane_id}')).trim().split('\n')[0] ?? '';
  const connections = () =>
    childrenOf(process.pid).filter((pid) => commandLineOf(pid).includes(`${world.tmux.socket} -C attach-session`));
  const server = userTmux(process.getuid?.() ?? 0, [world.tmux.socket]).open(world.tmux.socket, () => {});
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? server.panes() : server.capture(pane))),
  );
  expect(answers.every((answer) => answer !== null)).toBe(true);
  expect(connections()).toHaveLength(1);
  const late = server.capture(pane);
  server.close();
  await late;
  await until('no connection', () => connections().length === 0);
});

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}
