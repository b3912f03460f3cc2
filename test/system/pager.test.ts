// People are told whatever Watchkeeper itself stands on: without its database, without a tmux server, on a full disk.
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HumanMessage } from '../../src/act/notify/message.ts';
import { isRunning, processesIn } from '../../src/conform/processes.ts';
import type { Tmux } from '../../src/conform/tmux.ts';
import { until } from '../../src/conform/until.ts';
import { openStandIn, type StandIn } from './stand-in.ts';
import { openWorld, type World } from './world.ts';

let world: World;
let agent: StandIn;

beforeAll(async () => {
  world = await openWorld();
  const folder = path.join(world.scenario.home, '.config/watchkeeper');
  mkdirSync(folder, { recursive: true });
  // Fifteen ticks are the time for which something has to be away.
  const lines = [
    'tickSeconds: 0.2',
    'waiting: { notifyMinutes: 0.02, repeatMinutes: 600 }',
    `notify: [{ channel: file, type: command, command: [sh, -c, 'cat >> "$0"; echo >> "$0"', '${world.dir}/told'] }]`,
  ];
  writeFileSync(path.join(folder, 'config.yaml'), `${lines.join('\n')}\n`);
  agent = await openStandIn(world, 'worker-ps');
  await world.up();
  await world.agentIs('worker-ps', 'idle');
});
afterAll(() => world.end());

function told(check: string): HumanMessage[] {
  const lines = readFileSync(path.join(world.dir, 'told'), { encoding: 'utf8', flag: 'a+' })
    .split('\n')
    .filter(Boolean);
  return lines.map((line) => JSON.parse(line) as HumanMessage).filter((message) => message.check === check);
}

/** Of messages to people: the id, and what is on record of each. */
function ledger(): Promise<{ id: string; check: string; outcomes: string[] }[]> {
  return world.query(
    `SELECT a.id, substr(a.trigger, 6) AS check, array(SELECT outcome FROM action_outcomes o WHERE o.action_id = a.id) AS outcomes
     FROM actions a WHERE kind = 'notify' ORDER BY at`,
  );
}

const hostTroubles = async () =>
  (await world.status()).findings.map(({ check }) => check).filter((check) => check.endsWith('-away'));

describe('the database killed, and kept away', () => {
  function cluster(): string {
    return (JSON.parse(readFileSync(path.join(world.dataDir, 'pg.json'), 'utf8')) as { cluster: string }).cluster;
  }

  async function takeAway(): Promise<void> {
    renameSync(path.join(cluster(), 'global'), path.join(cluster(), 'global.away'));
    const pids = processesIn(cluster());
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await until('the database gone', () => pids.every((pid) => !isRunning(pid)));
  }

  const bringBack = () => renameSync(path.join(cluster(), 'global.away'), path.join(cluster(), 'global'));

  function spooled(): { action: { id: string }; outcome: { outcome: string } | null }[] {
    const folder = path.join(world.dataDir, 'spool');
    const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
    return files.flatMap((name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')).tellings);
  }

  it('whoever is waited for is told in the usual time, and once that it is away; the rows come later, once', async () => {
    await takeAway();
    agent.register({ status: 'waiting', waitingFor: 'permission prompt' });
    const beganMs = performance.now();
    await until('told', () => told('waiting-human').length > 0, 10_000);
    console.log(`told without a database after ${Math.round(performance.now() - beganMs)} ms`);
    await until('told that it is away', () => told('database-away').length > 0, 20_000);
    expect(await hostTroubles()).toEqual(['database-away']);
    const inbox = JSON.parse((await world.run('inbox', '--json')).stdout) as { items: { kind: string }[] };
    expect(inbox.items.map(({ kind }) => kind).toSorted()).toEqual(['database-away', 'waiting-human']);
    const health = (await world.run('health', '--json')).stdout;
    expect(health).toContain('"database-away"');
    const ids = spooled().map(({ action }) => action.id);
    expect(ids).toHaveLength(2);
    // What is typed is not.
    expect(await world.say('worker-ps', 'anybody there?')).toMatchObject({ outcome: 'refused', reason: 'no-ledger' });

    bringBack();
    await until('it is back', () => world.log().includes('the database is back'));
    await until(
      'all of it stored',
      async () => (await ledger().catch(() => [])).length === 2 && spooled().length === 0,
    );
    expect((await ledger()).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect((await ledger()).map(({ check, outcomes }) => [check, outcomes]).toSorted()).toEqual([
      ['database-away', ['told']],
      ['waiting-human', ['told']],
    ]);
    await until('over', async () => (await hostTroubles()).length === 0);
    const incidents = () =>
      world.query('SELECT check_name, tells, closed_at IS NOT NULL AS over FROM incidents ORDER BY check_name');
    await until('its end stored', async () => (await incidents())[0]?.over === true);
    expect(await incidents()).toEqual([
      { check_name: 'database-away', tells: 1, over: true },
      { check_name: 'waiting-human', tells: 1, over: false },
    ]);
    expect([told('waiting-human'), told('database-away')].map((messages) => messages.length)).toEqual([1, 1]);
  });

  it('and the daemon killed meanwhile: who was told is not told again', async () => {
    agent.register({ status: 'idle' });
    await world.agentIs('worker-ps', 'idle');
    await takeAway();
    agent.register({ status: 'waiting', waitingFor: 'permission prompt' });
    await until('told', () => told('waiting-human').length === 2, 10_000);
    // Killed before its channel said so, it would be told at least once, and so again.
    await until('known to be', () => spooled().some(({ outcome }) => outcome?.outcome === 'told'));
    process.kill(world.daemonPid(), 'SIGKILL');
    bringBack();
    await world.up();
    await world.agentIs('worker-ps', ({ findings }) => findings.some(({ check }) => check === 'waiting-human'));
    const rows = await until('stored', async () => {
      const waiting = (await ledger()).filter(({ check }) => check === 'waiting-human');
      return waiting.length === 2 ? waiting : null;
    });
    expect(rows.map(({ outcomes }) => outcomes)).toEqual([['told'], ['told']]);
    expect(spooled()).toEqual([]);
    expect(told('waiting-human')).toHaveLength(2);
  });
});

describe('a tmux server with agents in it', () => {
  const serverPid = async (tmux: Tmux) => Number(await tmux.run('display-message', '-p', '#{pid}'));

  it('that hangs is told once, and over when it answers', async () => {
    const tmux = world.otherTmux('hanging');
    await openStandIn(world, 'inside', { tmux });
    await world.agentIs('inside', 'idle');
    const pid = await serverPid(tmux);
    process.kill(pid, 'SIGSTOP');
    try {
      await until('told', () => told('tmux-away').length > 0);
      expect(told('tmux-away')[0]?.text).toContain('does not answer');
      expect(await hostTroubles()).toEqual(['tmux-away']);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await until('over', async () => (await hostTroubles()).length === 0);
    await tmux.close();
    await world.agentIs('inside', 'ended');
    expect(told('tmux-away')).toHaveLength(1);
  });

  it('that is gone is told while agents of it go on; those that went with it are told as ended', async () => {
    const tmux = world.otherTmux('going');
    await openStandIn(world, 'gone', { tmux });
    const survivor = await openStandIn(world, 'survivor', { tmux, survivesHangup: true });
    await world.agentIs('gone', 'idle');
    await world.agentIs('survivor', 'idle');
    process.kill(await serverPid(tmux), 'SIGKILL');
    await until('told', () => told('tmux-away').length === 2);
    expect(told('tmux-away')[1]?.text).toMatch(/is gone.*survivor$|is gone.*survivor /);
    expect(told('tmux-away')[1]?.text).not.toContain('gone,');
    process.kill(survivor.pid, 'SIGKILL');
    await until('over', async () => (await hostTroubles()).length === 0);
    expect(told('tmux-away')).toHaveLength(2);
  });
});
