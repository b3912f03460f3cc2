// Two daemons that know nothing of each other, with data directories of their own, and one agent: one looks after it.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../../src/conform/until.ts';
import { migrate } from '../../src/record/migrate.ts';
import { emptyEnvironment } from '../clients/agent.ts';
import { cloneDatabase } from './database.ts';
import { openStandIn } from './stand-in.ts';
import { TypedClient } from './typed-client.ts';
import { testWorld, World, waitMs } from './world.ts';

/** A second daemon of the same user on the same machine. */
function secondWorld(world: World, env: Record<string, string>): World {
  const second = new World(world.scenario);
  second.env = { ...env, WATCHKEEPER_HOME: path.join(world.dir, 'second') };
  onTestFinished(async () => void (await second.run('down')));
  return second;
}

interface Held {
  by: string;
  pid: number | null;
  home: string | null;
}

async function holdOf(daemon: Pick<World, 'run'>, agent: string): Promise<Held | null> {
  const said = await daemon.run('status', '--json');
  if (said.code !== 0) return null;
  const { agents } = JSON.parse(said.stdout) as { agents: { agent: string; hold: Held }[] };
  return agents.find((each) => each.agent === agent)?.hold ?? null;
}

it('two daemons on one database call a person once; the other one says whose it is; killed, the other one has it', async () => {
  const world = await testWorld();
  const database = await cloneDatabase(async (url) => void (await migrate(url)), 'wk_test_migrated');
  onTestFinished(() => database.drop());
  const told = path.join(world.dir, 'told');
  const config = path.join(world.dir, 'config.yaml');
  const program = path.join(world.dir, 'tell');
  writeFileSync(program, `#!/bin/sh\ncat >>${told}; echo >>${told}\n`, { mode: 0o700 });
  writeFileSync(
    config,
    JSON.stringify({
      tickSeconds: 0.3,
      waiting: { notifyMinutes: 0.02, repeatMinutes: 600 },
      notify: [{ channel: 'ops', type: 'command', command: [program] }],
    }),
  );
  const messages = () => {
    const lines = readFileSync(told, { encoding: 'utf8', flag: 'a+' }).split('\n').filter(Boolean);
    return lines.map((line) => (JSON.parse(line) as { agent: string; check: string }).check);
  };
  const env = { WATCHKEEPER_CONFIG: config, DATABASE_URL: database.adminUrl };
  world.env = env;
  const second = secondWorld(world, env);
  const agent = await openStandIn(world, 'worker-ps');
  await world.up();
  const up = await second.run('up', '--detach');
  expect(up.stderr).toContain('watching in the background');
  expect(await holdOf(world, 'worker-ps')).toMatchObject({ by: 'us', pid: world.daemonPid() });
  const theirs = { by: 'other', pid: world.daemonPid(), home: world.dataDir };
  expect(await holdOf(second, 'worker-ps')).toMatchObject(theirs);

  agent.register({ status: 'waiting', waitingFor: 'permission prompt' });
  await until('somebody is called', () => messages().length > 0, waitMs);
  // Both see it; several ticks of the second.
  await until(
    'the other one sees it too',
    async () => (await second.run('health', 'worker-ps')).stdout.includes('waiting-human'),
    waitMs,
  );
  const said = await second.run('prompt', 'worker-ps', 'continue');
  expect(said.code).toBe(1);
  expect(said.stdout).toContain('refused: held-elsewhere (another Watchkeeper looks after it:');
  const who = `pid ${world.daemonPid()}, data in`;
  expect((await second.run('status')).stdout.replaceAll(/\s+/g, ' ')).toContain(who);
  expect((await second.run('why', 'worker-ps')).stdout.replaceAll(/\s+/g, ' ')).toContain(who);
  const doctor = (await second.run('doctor')).stdout.replaceAll(/\s+/g, ' ');
  expect(doctor).toContain(`worker-ps by pid ${world.daemonPid()} (data in ${world.dataDir})`);
  const handoff = await second.run('handoff', 'worker-ps', '--json');
  expect(JSON.parse(handoff.stdout)).toMatchObject({ reason: 'held-elsewhere' });
  // As cron has it: nothing of the user's environment but what says where this test's data are.
  const check = await second.run('down').then(() => second.run('check'));
  expect(check.code).toBe(1);
  expect(messages()).toEqual(['waiting-human']);
  expect(await world.query('SELECT check_name FROM incidents')).toEqual([{ check_name: 'waiting-human' }]);

  expect((await second.run('up', '--detach')).code).toBe(0);
  process.kill(world.daemonPid(), 'SIGKILL');
  await until('it is taken over', async () => (await holdOf(second, 'worker-ps'))?.by === 'us', 10_000);
  expect((await second.run('prompt', 'worker-ps', 'continue')).stdout).not.toContain('held-elsewhere');
  await world.up();
  expect(await holdOf(world, 'worker-ps')).toMatchObject({
    by: 'other',
    pid: second.daemonPid(),
    home: second.dataDir,
  });
});

it('a copy of a data directory is another host; started in the same second as the first, on one database, one of them has the agent', async () => {
  const world = await testWorld();
  const database = await cloneDatabase(async () => {}, 'wk_test_empty');
  onTestFinished(() => database.drop());
  const told = path.join(world.dir, 'told');
  const program = path.join(world.dir, 'tell');
  const config = path.join(world.dir, 'config.yaml');
  writeFileSync(program, `#!/bin/sh\ncat >>${told}; echo >>${told}\n`, { mode: 0o700 });
  const notify = [{ channel: 'ops', type: 'command', command: [program] }];
  writeFileSync(config, JSON.stringify({ tickSeconds: 0.3, waiting: { notifyMinutes: 0.02 }, notify }));
  const env = { WATCHKEEPER_CONFIG: config, DATABASE_URL: database.adminUrl };
  world.env = env;
  const second = secondWorld(world, env);
  const agent = await TypedClient.open(world, 'worker-ps');
  await openStandIn(world, 'other-ps');
  agent.turn();
  await world.up();
  await world.agentIs('worker-ps', 'idle');
  expect((await world.run('authority', 'other-ps', 'observe')).code).toBe(0);
  // While the first runs: with its lock, its socket and what it says of itself.
  cpSync(world.dataDir, second.dataDir, { recursive: true, filter: (file) => !statSync(file).isSocket() });
  const locked = await second.run('status');
  expect([locked.code, (await world.run('status')).code]).toEqual([3, 0]);
  await world.down();

  const started = await Promise.all([world.run('up', '--detach'), second.run('up', '--detach')]);
  expect(started.map(({ code }) => code)).toEqual([0, 0]);
  const by = () => Promise.all([world, second].map(async (each) => (await holdOf(each, 'worker-ps'))?.by));
  await until('it is held', async () => (await by()).toSorted().join() === 'other,us', waitMs);
  const forbidden = await Promise.all([world, second].map(async (each) => (await each.agent('other-ps'))?.authority));
  expect(forbidden).toEqual(['observe', 'observe']);
  const hosts = await world.query('SELECT id FROM hosts');
  expect(hosts).toHaveLength(2);

  const said = await Promise.all([world, second].map((each) => each.run('prompt', 'worker-ps', 'go on')));
  expect(said.map(({ code }) => code).toSorted()).toEqual([0, 1]);
  expect(agent.submitted()).toHaveLength(1);
  agent.register({ status: 'waiting', waitingFor: 'permission prompt' });
  const messages = () => readFileSync(told, { encoding: 'utf8', flag: 'a+' }).split('\n').filter(Boolean);
  await until('somebody is called', () => messages().length > 0, waitMs);
  for (const each of [world, second])
    await until(
      'both see it',
      async () => (await each.run('health', 'worker-ps')).stdout.includes('waiting-human'),
      waitMs,
    );
  expect(messages()).toHaveLength(1);
});

it('many processes that want the same agents: each is held by one at a time, under ever higher numbers', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'wk-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const dist = path.resolve(import.meta.dirname, '../../dist');
  mkdirSync(path.join(folder, 'inside'));
  writeFileSync(
    path.join(folder, 'contend.mjs'),
    `import { appendFileSync, closeSync, openSync, rmSync } from 'node:fs';
     import { setTimeout as sleep } from 'node:timers/promises';
     import { Holds } from '${dist}/actions/holds.js';
     import { HoldFiles } from '${dist}/record/hold-files.js';
     import { isAlive, ownProcess, readProcess } from '${dist}/record/own-process.js';
     import { bootMs } from '${dist}/sense/clock.js';
     const [folder, leave] = process.argv.slice(2);
     const endMs = performance.now() + 90_000;
     const self = ownProcess();
     const parent = readProcess(process.ppid);
     const views = [0, 1].map((n) => ({
       agent: 'a' + n, authority: 'manage', reading: { state: 'idle' },
       // Two of them, by a boot that only the names of the files know.
       process: { bootId: self.bootId + n, pid: parent.pid, startTicks: parent.startTicks },
     }));
     const open = () => new Holds({
       files: new HoldFiles(folder + '/holds'), self, home: '/h' + process.pid, bootMs, notice() {},
       isAlive: (p) => isAlive({ ...p, bootId: self.bootId }), mode: () => 'act', paused: () => false, taken() {},
     });
     let had = 0;
     while (had < 30) {
       if (performance.now() > endMs) process.exit(3);
       const holds = open();
       for (const view of views) {
         if (holds.standing(view) !== 'ours') continue;
         had += 1;
         const inside = folder + '/inside/' + view.agent;
         try { closeSync(openSync(inside, 'wx')); } catch { process.exit(4); }
         appendFileSync(folder + '/' + view.agent, holds.document(view.agent).number + ' ' + process.pid + '\\n');
         await sleep(Math.random() * 5);
         if (holds.standing(view) !== 'ours') process.exit(5);
         rmSync(inside);
       }
       if (leave === 'die' && had > 20) process.kill(process.pid, 'SIGKILL');
       holds.close(new Set());
       await sleep(Math.random() * 5);
     }
     process.exit(0);`,
  );
  const codes = Array.from({ length: 8 }, (_, index) => {
    const argv = [path.join(folder, 'contend.mjs'), folder, index % 2 ? 'die' : 'live'];
    const child = spawn(process.execPath, argv, {
      env: emptyEnvironment(folder),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
  });
  const ended = await Promise.all(codes);
  expect(ended.filter((_, index) => index % 2 === 0)).toEqual([0, 0, 0, 0]);
  expect(ended.filter((code) => code !== 0 && code !== 'SIGKILL')).toEqual([]);
  for (const agent of ['a0', 'a1']) {
    const had = readFileSync(path.join(folder, agent), 'utf8').trim().split('\n');
    expect(had.length).toBeGreaterThan(20);
    // Who could not give it back, for another was looking at it, has it again under the same number; nobody else has.
    const numbers = [...new Set(had)].map((line) => Number(line.split(' ')[0]));
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  }
  expect(readdirSync(path.join(folder, 'holds')).filter((name) => name.includes('.fresh'))).toEqual([]);
});
