// One daemon per data directory, however they are started; and nothing left behind, however they end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../src/record/migrate.ts';
import { emptyEnvironment } from '../clients/agent.ts';
import { isRunning, processesIn } from '../clients/processes.ts';
import { watchkeeperProgram } from '../clients/scenario.ts';
import { until } from '../clients/until.ts';
import { cloneDatabase, type TestDatabase } from './database.ts';
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

  it('started at the same instant, again and again: always exactly one', async () => {
    for (let round = 0; round < 10; round += 1) {
      const ups = await Promise.all([world.run('up', '--detach'), world.run('up', '--detach')]);
      expect(ups.map((up) => up.code).sort()).toEqual([0, 1]);
      const loser = ups.find((up) => up.code === 1);
      expect(loser?.stderr).toMatch(/^watchkeeper: a daemon \(pid \d+\) already watches .*\n$/);
      const daemons = processesIn(world.dataDir).filter((pid) => pid === world.daemonPid() || isDaemon(pid));
      expect(daemons).toEqual([world.daemonPid()]);
      // Half of the time the next ones find the lock of a dead one.
      if (round % 2 === 0) await world.down();
      else {
        const pid = world.daemonPid();
        process.kill(pid, 'SIGKILL');
        await until('it is gone', () => !isRunning(pid));
      }
    }
  }, 120_000);
});

function isDaemon(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes('up');
  } catch {
    return false;
  }
}

describe('the end', () => {
  it.each([
    ['Ctrl-C', (child: ReturnType<typeof spawn>) => child.kill('SIGINT')],
    ['SIGTERM', (child: ReturnType<typeof spawn>) => child.kill('SIGTERM')],
    ['a closed terminal', (child: ReturnType<typeof spawn>) => child.kill('SIGHUP')],
    ['a reader that is gone, as in `up | head -1`', (child: ReturnType<typeof spawn>) => child.stdout?.destroy()],
  ])('by %s leaves no process, lock or socket behind', async (_how, end) => {
    const world = await testWorld();
    const env = {
      ...emptyEnvironment(world.scenario.home),
      WATCHKEEPER_HOME: world.dataDir,
      TMUX_TMPDIR: world.tmux.tmpdir,
    };
    const child = spawn(watchkeeperProgram, ['up'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await until('it watches', () => said.includes('watching'), 20_000);
    const exited = once(child, 'exit');
    end(child);
    // Something to say, to whoever still listens.
    await world.tmux.run('new-session', '-d', '-s', 'late', '--', 'sleep', 'infinity');
    const { openStandIn } = await import('./stand-in.ts');
    await openStandIn(world, 'worker-ps');
    expect((await exited)[0]).toBe(0);
    const { cluster } = JSON.parse(readFileSync(path.join(world.dataDir, 'pg.json'), 'utf8')) as { cluster: string };
    await until('no process of the database', () => processesIn(cluster).length === 0);
    for (const file of ['daemon.json', 'daemon.lock', 'daemon.sock', 'pg.lock']) {
      expect(existsSync(path.join(world.dataDir, file)), file).toBe(false);
    }
  });
});
