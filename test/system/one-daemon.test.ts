// One daemon per data directory, however they are started; and nothing left behind, however they end.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { processesIn } from '../../src/conform/processes.ts';
import { until } from '../../src/conform/until.ts';
import { migrate } from '../../src/record/migrate.ts';
import { emptyEnvironment } from '../clients/agent.ts';
import { watchkeeperProgram } from '../clients/scenario.ts';
import { cloneDatabase, type TestDatabase } from './database.ts';
import { openStandIn } from './stand-in.ts';
import { openWorld, testWorld, type World } from './world.ts';

describe('two daemons on one data directory', () => {
  let world: World;
  let database: TestDatabase;

  beforeAll(async () => {
    world = await openWorld();
    // Not what this is about, and so not started twenty times.
    database = await cloneDatabase(async (url) => void (await migrate(url)), 'wk_test_migrated');
    world.env = { DATABASE_URL: database.adminUrl };
  });
  afterAll(async () => {
    await world.end();
    await database.drop();
  });

  it('the second says so and exits 1, in the background and in the foreground', async () => {
    await world.up();
    const pid = world.daemonPid();
    for (const args of [['up'], ['up', '--detach']]) {
      const second = await world.run(...args);
      expect(second.code).toBe(1);
      expect(second.stderr).toContain(`a daemon (pid ${pid}) already watches ${world.dataDir}: stop it with`);
    }
    expect(world.daemonPid()).toBe(pid);
    expect((await world.run('status')).code).toBe(0);
    await world.down();
  });

  it('a second that cannot see the first, as in another container, does not take its lock or its database', async () => {
    const home = mkdtempSync(path.join(os.tmpdir(), 'wk-unseen-'));
    const unseen = createServer().listen(path.join(home, 'daemon.sock'));
    await once(unseen, 'listening');
    const files = readdirSync(home);
    try {
      const env = { ...world.env, WATCHKEEPER_HOME: home };
      const { code, stderr } = await world.scenario.watchkeeper(['up', '--detach'], { env });
      expect([code, stderr]).toEqual([1, expect.stringMatching(/cannot be seen from here.*\n$/)]);
      expect(readdirSync(home).filter((name) => name !== 'inbox')).toEqual(files);
    } finally {
      unseen.close();
      rmSync(home, { recursive: true, force: true });
    }
  });

  it('started at the same instant, twenty times: always exactly one', async () => {
    for (let round = 0; round < 20; round += 1) {
      const contenders = [start(world), start(world)];
      const loser = await Promise.race(contenders.map((contender) => contender.ended));
      expect(loser.code).toBe(1);
      expect(loser.said).toMatch(/^watchkeeper: a daemon \(pid \d+\) already watches .*\n$/);
      const winner = contenders.find((contender) => contender.child.pid !== loser.pid);
      await until('the other one watches', () => winner?.said().includes('watching, data in'), 20_000);
      expect(world.daemonPid()).toBe(winner?.child.pid);
      // Half of the time the next two find the lock of a dead one.
      winner?.child.kill(round % 2 === 0 ? 'SIGTERM' : 'SIGKILL');
      const end = await winner?.ended;
      expect(end?.code).toBe(round % 2 === 0 ? 0 : null);
    }
  }, 120_000);
});

interface Contender {
  child: ChildProcess;
  said(): string;
  ended: Promise<{ pid: number | undefined; code: number | null; said: string }>;
}

/** `up` in the foreground. */
function start(world: World): Contender {
  const env = {
    ...emptyEnvironment(world.scenario.home),
    WATCHKEEPER_HOME: world.dataDir,
    TMUX_TMPDIR: world.tmux.tmpdir,
    ...world.env,
  };
  const child = spawn(watchkeeperProgram, ['up'], { env, cwd: world.scenario.home, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stdout.resume();
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = once(child, 'close').then(([code]) => ({ pid: child.pid, code: code as number | null, said }));
  return { child, said: () => said, ended };
}

describe('the end', () => {
  it.each([
    ['Ctrl-C', (child: ChildProcess) => child.kill('SIGINT')],
    ['SIGTERM', (child: ChildProcess) => child.kill('SIGTERM')],
    ['a closed terminal', (child: ChildProcess) => child.kill('SIGHUP')],
    ['a reader that is gone, as in `up | head -1`', (child: ChildProcess) => child.stdout?.destroy()],
  ])('by %s leaves no process, lock or socket behind', async (_how, end) => {
    const world = await testWorld();
    const { child, said, ended } = start(world);
    await until('it watches', () => said().includes('watching, data in'), 20_000);
    end(child);
    // Something to say, to whoever still listens.
    await openStandIn(world, 'worker-ps');
    expect((await ended).code).toBe(0);
    await expectNothingLeft(world);
  });

  it('by a signal in the middle of the start, before it says that it watches, leaves nothing behind either', async () => {
    const world = await testWorld();
    const { child, said, ended } = start(world);
    await until('it starts', () => said().includes('starting the database'), 20_000);
    child.kill('SIGTERM');
    const { code, said: all } = await ended;
    expect(code).toBe(0);
    expect(all).not.toContain('watching, data in');
    await expectNothingLeft(world);
  });
});

async function expectNothingLeft(world: World): Promise<void> {
  const { cluster } = JSON.parse(readFileSync(path.join(world.dataDir, 'pg.json'), 'utf8')) as { cluster: string };
  await until('no process of the database', () => processesIn(cluster).length === 0);
  for (const file of ['daemon.json', 'daemon.lock', 'daemon.sock', 'pg.lock']) {
    expect(existsSync(path.join(world.dataDir, file)), file).toBe(false);
  }
}
