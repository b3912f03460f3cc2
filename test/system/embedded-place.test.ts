import { spawnSync } from 'node:child_process';
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
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { installBinaries, runVersion, shorterNames } from '../../src/record/embedded/binaries.ts';
import { findPackage } from '../../src/record/embedded/package.ts';
import { rootOf } from '../../src/record/embedded/place.ts';
import {
  type EmbeddedServer,
  embeddedRunning,
  embeddedUrl,
  startEmbedded,
  stopEmbedded,
} from '../../src/record/embedded/server.ts';
import { readProcess } from '../../src/record/own-process.ts';
import { cloneDatabase } from './database.ts';
import {
  connected,
  hostileEnvironment,
  killed,
  nobody,
  ownedHome,
  query,
  root,
  script,
  startAsNobody,
  started,
  testHome,
} from './embedded-server.ts';

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
