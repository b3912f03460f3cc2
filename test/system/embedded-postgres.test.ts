import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { rootOf } from '../../src/record/embedded/place.ts';
import { clusterProcesses } from '../../src/record/embedded/postmaster.ts';
import {
  type EmbeddedServer,
  embeddedRunning,
  embeddedUrl,
  startEmbedded,
  stopEmbedded,
} from '../../src/record/embedded/server.ts';
import { readProcess } from '../../src/record/own-process.ts';
import { discardHome, newHome, until } from './embedded-home.ts';
import {
  connected,
  halfMade,
  killed,
  nobody,
  pidsMentioning,
  postmasters,
  query,
  root,
  script,
  socketsOf,
  started,
  stranger,
  testHome,
} from './embedded-server.ts';

describe('starting', () => {
  it('a second start gives the server that runs, and another process gets the same one', async () => {
    const home = testHome();
    expect(embeddedUrl(home)).toBeNull();
    expect(embeddedRunning(home)).toBeNull();
    const first = await started(home);
    expect(await started(home)).toEqual(first);
    expect(await script('start.js', home).answer).toEqual({ ok: true, value: first });
    expect(embeddedUrl(home)).toBe(first.url);
    expect(first.url).toBe(`postgresql://watchkeeper@/watchkeeper?host=${first.place.socketDir}`);
    expect(embeddedRunning(home)).toEqual({ pid: first.postmaster.pid });
  });

  it('two starters at once end with one server', async () => {
    const home = testHome();
    const starters = [script('start.js', home), script('start.js', home), script('start.js', home)];
    const answers = await Promise.all([...starters.map((starter) => starter.answer), startEmbedded(home)]);
    const server = await started(home);
    for (const answer of answers) expect(answer).toEqual({ ok: true, value: server });
    expect(postmasters(server)).toEqual([server.postmaster.pid]);
  });

  it('a starter killed after the server came up leaves one that the next start completes', async () => {
    const home = testHome();
    const server = await started(home);
    await query(server.adminUrl.replace('@/watchkeeper?', '@/postgres?'), 'DROP DATABASE watchkeeper');
    expect((await started(home)).postmaster).toEqual(server.postmaster);
    expect(await query(server.url, 'SELECT current_database() AS name')).toEqual([{ name: 'watchkeeper' }]);
  });

  it('a killed initdb is not mistaken for a database', async () => {
    const home = testHome();
    const starter = script('start.js', home);
    let folder = '';
    await until('initdb is half way', () => {
      folder = halfMade(home);
      return folder !== '' && existsSync(path.join(folder, 'PG_VERSION')) && existsSync(path.join(folder, 'base/1'));
    });
    starter.process.kill('SIGKILL');
    const working = pidsMentioning(folder);
    for (const pid of working) process.kill(pid, 'SIGKILL');
    expect(working.length).toBeGreaterThan(0);
    expect(embeddedUrl(home)).toBeNull();

    const server = await started(home);
    const names = await query(server.adminUrl, 'SELECT datname FROM pg_database ORDER BY 1');
    expect(names.map((row) => row.datname)).toEqual(['postgres', 'template0', 'template1', 'watchkeeper']);
    expect(existsSync(folder)).toBe(false);
  });

  it('a server that answers and cannot be seen, as of another container, is not started over', async () => {
    const home = testHome();
    const server = await started(home);
    expect((await stopEmbedded(home)).ok).toBe(true);
    const unseen = createServer().listen(path.join(server.place.socketDir, '.s.PGSQL.5432'));
    await once(unseen, 'listening');
    try {
      expect(await startEmbedded(home)).toMatchObject({ ok: false, reason: 'locked' });
    } finally {
      unseen.close();
    }
    await started(home);
  });

  it('a database of another major version is refused with a sentence', async () => {
    const home = testHome();
    const server = await started(home);
    await stopEmbedded(home);
    writeFileSync(path.join(server.place.cluster, 'PG_VERSION'), '17\n');
    expect(await startEmbedded(home)).toMatchObject({
      ok: false,
      reason: 'other-major',
      message: expect.stringMatching(/was made by PostgreSQL 17, and this Watchkeeper brings PostgreSQL 18$/),
      fix: expect.stringContaining('DATABASE_URL'),
    });
  });

  it('a start that fails says why in one line', async () => {
    const home = testHome();
    const server = await started(home);
    await stopEmbedded(home);
    rmSync(path.join(server.place.cluster, 'pg_wal'), { recursive: true });
    const answer = await startEmbedded(home);
    expect(answer).toMatchObject({
      ok: false,
      reason: 'start-failed',
      message: expect.stringMatching(/FATAL.*pg_wal/),
    });
    expect(answer.ok ? '' : answer.message).not.toContain('\n');
  });

  it('a home that was moved keeps its rows', async () => {
    const home = testHome();
    const moved = testHome();
    const server = await started(home);
    await query(server.adminUrl, 'CREATE TABLE kept AS SELECT 7 AS n');
    await stopEmbedded(home);
    renameSync(home, moved);
    expect(await query((await started(moved)).adminUrl, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  });
});

describe('after a kill -9', () => {
  it('a server killed with -9 starts again and keeps its rows', async () => {
    const home = testHome();
    const first = await started(home);
    await query(first.adminUrl, 'CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n');
    await killed(first);
    const second = await started(home);
    expect(second.postmaster).not.toEqual(first.postmaster);
    expect(await query(second.adminUrl, 'SELECT count(*)::int AS n FROM kept')).toEqual([{ n: 1000 }]);
  });

  it('an orphan that keeps the memory in use is ended, and nobody else', async () => {
    const home = testHome();
    const first = await started(home);
    const client = await connected(first.adminUrl);
    const [row] = (await client.query('SELECT pg_backend_pid() AS pid')).rows;
    const bystander = spawn('/usr/bin/sleep', ['600'], {
      cwd: '/',
      stdio: 'ignore',
      ...(first.place.serverUser === null ? {} : { uid: first.place.serverUser.uid, gid: first.place.serverUser.gid }),
    });
    onTestFinished(() => {
      bystander.kill('SIGKILL');
    });
    process.kill(row.pid, 'SIGSTOP');
    await killed(first);

    const lines: string[] = [];
    const second = await startEmbedded(home, { progress: (line) => lines.push(line) });
    expect(second.ok).toBe(true);
    expect(lines).toContain(`ending process ${row.pid}, left over from a killed server`);
    expect(lines).not.toContainEqual(expect.stringContaining(`process ${bystander.pid}`));
    expect(readProcess(row.pid)).toBeNull();
    expect(readProcess(bystander.pid ?? 0)).not.toBeNull();
    await client.end().catch(() => {});
  });

  it('a leftover postmaster.pid whose pid another program has by now is no obstacle, and is left alone', async () => {
    const home = testHome();
    const server = await started(home);
    await killed(server);
    await until('its children are gone', () => clusterProcesses(server.place).length === 0);
    const user = server.place.serverUser;
    const other = spawn('/usr/bin/sleep', ['600'], {
      cwd: '/',
      stdio: 'ignore',
      ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
    });
    onTestFinished(() => {
      other.kill('SIGKILL');
    });
    const file = path.join(server.place.cluster, 'postmaster.pid');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(other.pid)));
    expect(embeddedRunning(home)).toBeNull();
    expect(await stopEmbedded(home)).toEqual({ ok: true, value: 'not-running' });
    await started(home);
    expect(readProcess(other.pid ?? 0)).not.toBeNull();
  });
});

describe('stopping', () => {
  it('a connected client does not hold it up, and stopping twice is no error', async () => {
    const home = testHome();
    const server = await started(home);
    const client = await connected(server.url);
    const beganMs = performance.now();
    expect(await stopEmbedded(home)).toEqual({ ok: true, value: 'stopped' });
    expect(performance.now() - beganMs).toBeLessThan(5_000);
    expect(readProcess(server.postmaster.pid)).toBeNull();
    expect(await stopEmbedded(home)).toEqual({ ok: true, value: 'not-running' });
    await client.end().catch(() => {});
  });

  it('a frozen backend costs ten seconds more, no rows', async () => {
    const home = testHome();
    const server = await started(home);
    await query(server.adminUrl, 'CREATE TABLE kept AS SELECT 7 AS n');
    const client = await connected(server.url);
    const [row] = (await client.query('SELECT pg_backend_pid() AS pid')).rows;
    process.kill(row.pid, 'SIGSTOP');
    const beganMs = performance.now();
    expect(await stopEmbedded(home)).toEqual({ ok: true, value: 'stopped' });
    expect(performance.now() - beganMs).toBeGreaterThan(9_900);
    expect(await query((await started(home)).adminUrl, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
    await client.end().catch(() => {});
  });

  it('Ctrl-C in the terminal of the starter does not reach it', async () => {
    const home = testHome();
    const server = (await script('start.js', home, { detached: true }).answer) as { value: EmbeddedServer };
    const stat = readFileSync(`/proc/${server.value.postmaster.pid}/stat`, 'latin1');
    const [group, session] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(2, 4);
    expect([group, session]).toEqual([`${server.value.postmaster.pid}`, `${server.value.postmaster.pid}`]);
  });
});

describe('who gets in', () => {
  let home: string;
  let server: EmbeddedServer;
  beforeAll(async () => {
    home = newHome();
    server = await started(home);
  });
  afterAll(() => discardHome(home));

  it('nothing listens on TCP', async () => {
    const sockets = clusterProcesses(server.place).flatMap(({ pid }) => socketsOf(pid));
    expect(sockets.length).toBeGreaterThan(0);
    const tcp = ['tcp', 'tcp6', 'udp', 'udp6'].map((name) => readFileSync(`/proc/net/${name}`, 'utf8')).join('\n');
    const inodes = new Set(tcp.split('\n').map((line) => line.trim().split(/\s+/)[9]));
    expect(sockets.filter((inode) => inodes.has(inode))).toEqual([]);
    expect(await query(server.adminUrl, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '' }]);
  });

  it('only the peer rule is there, and the daemon is no superuser', async () => {
    expect(
      await query(server.adminUrl, 'SELECT type, database, user_name, auth_method, options FROM pg_hba_file_rules'),
    ).toEqual([{ type: 'local', database: ['all'], user_name: ['all'], auth_method: 'peer', options: ['map=wk'] }]);
    const roles = "SELECT rolname, rolsuper, rolcanlogin FROM pg_roles WHERE rolname !~ '^pg_' ORDER BY 1";
    expect(await query(server.url, roles)).toEqual([
      { rolname: 'watchkeeper', rolsuper: false, rolcanlogin: true },
      { rolname: 'wk_admin', rolsuper: true, rolcanlogin: true },
    ]);
    expect(
      await query(server.url, "SELECT pg_get_userbyid(datdba) AS o FROM pg_database WHERE datname = 'watchkeeper'"),
    ).toEqual([{ o: 'wk_admin' }]);
    await expect(query(server.url, 'CREATE TABLE mine (n int)')).rejects.toMatchObject({ code: '42501' });
  });

  it('acknowledged rows are on disk, and the rest of the settings hold', async () => {
    const wanted = {
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      io_method: 'sync',
      max_connections: '40',
      shared_buffers: '4096',
      wal_level: 'minimal',
      max_wal_senders: '0',
      dynamic_shared_memory_type: 'mmap',
      logging_collector: 'on',
      log_filename: 'postgresql-%a.log',
      log_truncate_on_rotation: 'on',
      data_checksums: 'on',
    };
    const rows = await query(server.adminUrl, 'SELECT name, setting FROM pg_settings');
    expect(Object.fromEntries(rows.map((row) => [row.name, row.setting]))).toMatchObject(wanted);
    expect(readdirSync(path.join(server.place.cluster, 'log'))).toEqual([
      expect.stringMatching(/^postgresql-\w{3}\.log$/),
    ]);
  });

  it.skipIf(!root)('another OS user cannot connect, even where it can reach the socket', async () => {
    expect(statSync(server.place.socketDir)).toMatchObject({ uid: server.place.serverUser?.uid });
    expect(statSync(server.place.socketDir).mode & 0o777).toBe(0o700);
    expect(await script('connect.js', server.url, stranger).answer).toBe('EACCES');
    chmodSync(rootOf(server.place), 0o755);
    chmodSync(server.place.socketDir, 0o755);
    chmodSync(path.join(server.place.socketDir, '.s.PGSQL.5432'), 0o777);
    expect(await script('connect.js', server.url, nobody).answer).toBe('28000');
    expect(await script('connect.js', server.adminUrl, nobody).answer).toBe('28000');
  });
});
