// A full disk: the daemon goes on and shows the state, rows wait, and all is stored once there is room again.
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hookScript } from '../../src/clients/claude-code/hook-script.ts';
import { isRunning } from '../../src/conform/processes.ts';
import { until } from '../../src/conform/until.ts';
import { openStandIn } from './stand-in.ts';
import { answerMs, testWorld, type World } from './world.ts';

const canMount = process.getuid?.() === 0 && mayMount();

function mayMount(): boolean {
  const probe = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'wk-test', '/mnt']);
  return probe.status === 0;
}

/** A data directory on a disk of its own, which the database's user can reach. */
async function worldOnDisk(megabytes: number): Promise<{ world: World; disk: string }> {
  const world = await testWorld();
  // Where another user gets in, whatever folder the tests were given.
  const disk = mkdtempSync('/tmp/wk-disk-');
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0755`, 'wk-test', disk]);
  expect(mounted.status).toBe(0);
  onTestFinished(async () => {
    makeRoom(disk);
    await world.run('down');
    expect(spawnSync('umount', [disk]).status).toBe(0);
    rmSync(disk, { recursive: true });
  });
  // Run by root, the database's own user has to get in: else it would live elsewhere.
  const home = path.join(disk, 'wk');
  mkdirSync(home, { mode: 0o711 });
  world.env = { WATCHKEEPER_HOME: home };
  return { world, disk };
}

/** To the last block, or but for some megabytes. */
function fill(disk: string, butMegabytes = 0): void {
  if (butMegabytes > 0) writeUntilFull(path.join(disk, 'room'), butMegabytes * 256);
  writeUntilFull(path.join(disk, 'ballast'), Number.POSITIVE_INFINITY);
  rmSync(path.join(disk, 'room'), { force: true });
}

function writeUntilFull(file: string, blocksMax: number): void {
  const fd = openSync(file, 'a');
  try {
    for (let block = 0; block < blocksMax; block += 1) writeSync(fd, Buffer.alloc(4096, 'x'));
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
  } finally {
    closeSync(fd);
  }
}

/** Messages to people go to a file on another disk; how many there were about a check. */
function tellsFile(world: World): (check: string) => number {
  const folder = path.join(world.scenario.home, '.config/watchkeeper');
  const file = path.join(world.dir, 'told');
  mkdirSync(folder, { recursive: true });
  const channel = `{ channel: file, type: command, command: [sh, -c, 'cat >> "$0"', '${file}'] }`;
  // Fifteen ticks are the time for which it has to be full.
  writeFileSync(path.join(folder, 'config.yaml'), `tickSeconds: 0.3\nnotify: [${channel}]\n`);
  return (check) => readFileSync(file, { encoding: 'utf8', flag: 'a+' }).split(`"check":"${check}"`).length - 1;
}

function makeRoom(disk: string): void {
  for (const name of ['room', 'ballast']) rmSync(path.join(disk, name), { force: true });
}

describe.skipIf(!canMount)('a full disk', () => {
  it('under the inbox: a hook says nothing, waits for nothing and leaves no half event', () => {
    const disk = mkdtempSync('/tmp/wk-disk-');
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'wk-test', disk]).status).toBe(0);
    onTestFinished(() => {
      expect(spawnSync('umount', [disk]).status).toBe(0);
      rmSync(disk, { recursive: true });
    });
    const inbox = path.join(disk, 'inbox');
    const script = path.join(disk, 'claude-code.sh');
    mkdirSync(inbox);
    writeFileSync(script, hookScript(inbox, path.join(disk, 'allowances')), { mode: 0o700 });
    const body = JSON.stringify({ session_id: 'aaaaaaaa', hook_event_name: 'PostToolUse', x: 'x'.repeat(500_000) });
    const call = () => {
      const { status, stdout, stderr, error } = spawnSync('/bin/sh', [script, 'hook'], {
        input: body,
        timeout: 20_000,
      });
      return { status, said: `${stdout}${stderr}`, error };
    };
    fill(disk);
    expect(call()).toEqual({ status: 0, said: '', error: undefined });
    expect(readdirSync(inbox).filter((name) => name.endsWith('.new'))).toEqual([]);
    makeRoom(disk);
    for (const name of readdirSync(inbox)) rmSync(path.join(inbox, name));
    expect(call()).toEqual({ status: 0, said: '', error: undefined });
    expect(readdirSync(inbox)).toHaveLength(1);
  });

  it('while running stops neither daemon nor status, people are told once, and no row is lost or doubled by it', async () => {
    const { world, disk } = await worldOnDisk(256);
    const told = tellsFile(world);
    const agent = await openStandIn(world, 'worker-ps');
    await world.up();
    agent.turn();
    await world.agentIs('worker-ps', (seen) => seen.last_turn === 'ok');
    expect(readdirSync(world.env.WATCHKEEPER_HOME ?? '')).toContain('pg');
    const daemon = world.daemonPid();

    fill(disk);
    // More rows than fit into the blocks the database has already.
    for (let turn = 0; turn < 3_000; turn += 1) agent.turn(2_000);
    await world.agentIs('worker-ps', (seen) => seen.context?.used === 2_000);
    const wrong = await until(
      'doctor says so',
      async () => {
        const check = (await world.doctor()).checks.get('database');
        return check?.ok === false ? check : null;
      },
      20_000,
    );
    expect(wrong.detail).not.toBe('');
    for (const used of [3_000, 4_000, 5_000]) {
      agent.turn(used);
      agent.register({ status: 'busy' });
      await world.agentIs('worker-ps', (seen) => seen.state === 'working' && seen.context?.used === used);
      agent.register({ status: 'idle' });
      await world.agentIs('worker-ps', 'idle');
    }
    expect((await world.run('status')).ms).toBeLessThan(answerMs);
    expect(isRunning(daemon)).toBe(true);
    // Neither database nor disk: people are told all the same.
    await until('told of both', () => told('disk-full') + told('database-away') === 2, 20_000);

    makeRoom(disk);
    const roomMs = performance.now();
    const records = readFileSync(agent.transcriptFile, 'utf8').split('\n').length - 1;
    const rows = async () => {
      const [row] = await world.query<{ n: number }>(
        "SELECT count(*)::int AS n FROM events WHERE session_id = $1 AND source = 'transcript' AND kind <> 'state'",
        [agent.sessionId],
      );
      return row?.n ?? 0;
    };
    await until('all rows', async () => (await rows().catch(() => 0)) >= records, 30_000);
    console.log(`all ${records} rows are there ${Math.round(performance.now() - roomMs)} ms after there was room`);
    expect(await rows()).toBe(records);
    expect(world.daemonPid()).toBe(daemon);
    await until('doctor is content', async () => (await world.doctor()).ok);
    await until('no trouble of the host', async () => (await world.status()).findings.length === 0);
    const messages = await until('the messages stored', async () => {
      const rows = await world.query(
        "SELECT substr(a.trigger, 6) AS check, o.outcome FROM actions a JOIN action_outcomes o ON o.action_id = a.id WHERE kind = 'notify' ORDER BY 1",
      );
      return rows.length === 2 ? rows : null;
    });
    expect(messages).toEqual([
      { check: 'database-away', outcome: 'told' },
      { check: 'disk-full', outcome: 'told' },
    ]);
    expect([told('disk-full'), told('database-away')]).toEqual([1, 1]);
  }, 120_000);

  it.each([
    ['full', 0],
    ['with room for the server but not for its database', 80],
  ])('at the start is one clear line, and leaves nothing running: %s', async (_what, butMegabytes) => {
    const { world, disk } = await worldOnDisk(200);
    fill(disk, butMegabytes);
    const up = await world.run('up', '--detach');
    expect([2, 5]).toContain(up.code);
    expect(up.stdout).toBe('');
    expect(up.stderr.trim().split('\n')).toHaveLength(1);
    expect(up.stderr).toMatch(/^watchkeeper: .*(no space left|ENOSPC|No space left)/i);
    expect(up.stderr).not.toMatch(/unexpected|please report| at /);
    expect((await world.run('status')).code).toBe(3);
    makeRoom(disk);
    await world.up();
    expect((await world.doctor()).ok).toBe(true);
  });
});
