// Which OS user the embedded server runs as when root starts it, and that this user, like any other, becomes no role.
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { confIn, rootOf } from '../../src/record/embedded/place.ts';
import { type EmbeddedServer, startEmbedded, stopEmbedded } from '../../src/record/embedded/server.ts';
import { findServerUser } from '../../src/record/embedded/server-user.ts';
import { readProcess } from '../../src/record/own-process.ts';
import { discardHome, newHome, until } from './embedded-home.ts';
import { connected, nobody, query, root, script, started, testHome } from './embedded-server.ts';

describe('the user the database runs as', () => {
  it.each([
    ['none', '', { ok: true, value: null }],
    ['its own', 'watchkeeper:x:900:901:::\n', { ok: true, value: { name: 'watchkeeper', uid: 900, gid: 901 } }],
    ['never nobody or postgres', 'nobody:x:65534:65534:::\npostgres:x:101:104:::\n', { ok: true, value: null }],
    ['no shared one', 'a:x:900:900:::\nwatchkeeper:x:900:900:::\n', { ok: false, reason: 'no-user' }],
    ['not root by another name', 'watchkeeper:x:0:0:::\n', { ok: false, reason: 'no-user' }],
  ])('%s', (_, passwd, found) => expect(findServerUser(passwd)).toMatchObject(found));
});

describe.skipIf(!root)('started by root', () => {
  let home: string;
  let kept: EmbeddedServer;
  beforeAll(async () => {
    home = newHome();
    kept = await started(home);
    await query(kept.adminUrl, 'CREATE TABLE kept AS SELECT 7 AS n');
  });
  afterAll(() => discardHome(home));

  it('it runs as a user of its own, who like every other becomes no role of the database', async () => {
    const { place, postmaster, url, adminUrl } = kept;
    expect(place.serverUser?.name).toBe('watchkeeper');
    expect(readProcess(postmaster.pid)?.uid).toBe(place.serverUser?.uid);
    // The socket is its own, so it gets as far as saying who it is.
    for (const each of [url, adminUrl])
      expect(await script('connect.js', each, place.serverUser ?? {}).answer).toBe('28000');
  });

  it('a database that ran as nobody, and still does, moves over with its rows', async () => {
    const server = await asNobody(home);
    const before = runAsNobody(server);
    await until('it runs as nobody', () => script('connect.js', server.url, nobody).answer.then(isConnected));

    const after = await started(home);
    expect(readProcess(before)).toBeNull();
    expect(readProcess(after.postmaster.pid)?.uid).toBe(after.place.serverUser?.uid);
    expect(after.place.serverUser?.name).toBe('watchkeeper');
    expect(await query(after.adminUrl, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
    expect(ownersIn(rootOf(after.place))).toEqual(new Set([0, after.place.serverUser?.uid]));
    chmodSync(rootOf(after.place), 0o755);
    chmodSync(after.place.socketDir, 0o755);
    chmodSync(path.join(after.place.socketDir, '.s.PGSQL.5432'), 0o777);
    expect(await script('connect.js', after.url, nobody).answer).toBe('28000');
  });

  it('what a killed server of nobody left behind is ended before the new one writes', async () => {
    const server = await asNobody(home);
    const before = runAsNobody(server);
    await until('it runs as nobody', () => script('connect.js', server.url, nobody).answer.then(isConnected));
    const client = await connected(server.adminUrl);
    const [row] = (await client.query('SELECT pg_backend_pid() AS pid')).rows;
    process.kill(row.pid, 'SIGSTOP');
    process.kill(before, 'SIGKILL');
    expect(await query((await started(home)).adminUrl, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
    expect(readProcess(row.pid)).toBeNull();
    await client.end().catch(() => {});
  });

  it('a move that was killed half way is finished by the next start', async () => {
    const server = await asNobody(home);
    const { cluster, serverUser } = server.place;
    // As it is while it is gone through: what is not done is still the old user's, the top is nobody else's.
    chownSync(rootOf(server.place), 0, 0);
    for (const folder of [cluster, path.join(cluster, 'global')]) chownSync(folder, 0, 0);
    for (const name of ['PG_VERSION', 'global/pg_control', 'pg_wal'])
      chownSync(path.join(cluster, name), serverUser?.uid ?? 0, serverUser?.gid ?? 0);
    expect(await query((await started(home)).adminUrl, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
    expect(ownersIn(cluster)).toEqual(new Set([serverUser?.uid]));

    // And when only the last of all was missing.
    await stopEmbedded(home);
    chownSync(rootOf(server.place), 0, 0);
    expect(await query((await started(home)).adminUrl, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  });

  it("what the user before put among the files does not become the new one's", async () => {
    const server = await asNobody(home);
    // The same file system, or there could be no second name.
    const here = path.join(path.dirname(rootOf(server.place)), `victim-${process.pid}`);
    writeFileSync(here, 'root only', { mode: 0o600 });
    onTestFinished(() => rmSync(here));
    linkSync(here, path.join(server.place.cluster, 'extra'));
    expect(await startEmbedded(home)).toMatchObject({ ok: false, message: expect.stringContaining('data/extra') });
    expect(statSync(here).uid).toBe(0);
    rmSync(path.join(server.place.cluster, 'extra'));
    await started(home);
  });

  it('a server whose map lets its own user in is started anew with one that does not', async () => {
    const server = await started(home);
    const ident = path.join(confIn(rootOf(server.place)), 'pg_ident.conf');
    writeFileSync(ident, `${readFileSync(ident, 'utf8')}wk "watchkeeper" wk_admin\n`);
    expect((await started(home)).postmaster).not.toEqual(server.postmaster);
    expect(readFileSync(ident, 'utf8')).not.toContain('"watchkeeper"');
    const { postmaster } = await started(home);
    expect((await started(home)).postmaster).toEqual(postmaster);
  });

  it('where there is no such user: refused in one line if none may be created, else created, and said', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'wk-test-'));
    const fresh = testHome();
    onTestFinished(() => {
      spawnSync('/usr/bin/umount', [folder]);
      rmSync(folder, { recursive: true, force: true });
    });
    expect(spawnSync('/usr/bin/mount', ['-t', 'tmpfs', 'wk-test', folder]).status).toBe(0);
    const copied = `cp -a /etc/. '${folder}/' && sed -i '/^watchkeeper:/d' '${folder}'/passwd '${folder}'/group '${folder}'/shadow '${folder}'/gshadow`;
    expect(spawnSync('/bin/sh', ['-c', copied]).stderr.toString()).toBe('');

    const refused = elsewhere(folder, fresh, ['up', '--detach', '--no-create-user']);
    expect(refused.status).toBe(5);
    expect(refused.stderr).toMatch(/^watchkeeper: [^\n]*no user watchkeeper[^\n]*DATABASE_URL[^\n]*\n$/);
    expect(readFileSync(path.join(folder, 'passwd'), 'utf8')).not.toContain('watchkeeper');

    const up = elsewhere(folder, fresh, ['up', '--detach']);
    expect(up.status, up.stderr).toBe(0);
    expect(up.stderr).toContain(
      'watchkeeper: created the system user watchkeeper for the database: no login, no home\n',
    );
    const line = readFileSync(path.join(folder, 'passwd'), 'utf8').match(/^watchkeeper:.*$/m)?.[0] ?? '';
    const [, , uid, , , , shell] = line.split(':');
    expect(shell).toMatch(/nologin|false/);
    const doctor = elsewhere(folder, fresh, ['doctor']);
    expect(doctor.stdout.replaceAll(/\s+/g, ' ')).toContain('as the user watchkeeper');
    const { cluster } =
      (JSON.parse(readFileSync(path.join(fresh, 'pg.json'), 'utf8')) as EmbeddedServer['place']) ?? {};
    expect(String(statSync(cluster).uid)).toBe(uid);
    expect(elsewhere(folder, fresh, ['down']).status).toBe(0);
  });
});

/** In a mount namespace in which `etc` is /etc. */
function elsewhere(etc: string, home: string, args: string[]) {
  const bin = path.resolve(import.meta.dirname, '../../bin/watchkeeper');
  const inside = ['-c', 'mount --bind "$1" /etc && shift && exec "$@"', 'sh', etc, process.execPath, bin, ...args];
  return spawnSync('/usr/bin/unshare', ['--mount', '/bin/sh', ...inside], {
    cwd: '/',
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: path.dirname(home), TMUX_TMPDIR: path.dirname(home), WATCHKEEPER_HOME: home },
  });
}

/** The database, stopped, as it was when root's ran as nobody. */
async function asNobody(home: string): Promise<EmbeddedServer> {
  const server = await started(home);
  await stopEmbedded(home);
  const { place } = server;
  spawnSync('/usr/bin/chown', ['-R', '65534:65534', place.cluster, place.socketDir]);
  chownSync(rootOf(place), nobody.uid, nobody.gid);
  const record = path.join(home, 'pg.json');
  const told = { ...(JSON.parse(readFileSync(record, 'utf8')) as object), serverUser: { name: 'nobody', ...nobody } };
  writeFileSync(record, JSON.stringify(told));
  const roles = ['root', 'nobody'].flatMap((name) => ['watchkeeper', 'wk_admin'].map((role) => `wk "${name}" ${role}`));
  writeFileSync(path.join(confIn(rootOf(place)), 'pg_ident.conf'), `${roles.join('\n')}\n`);
  return server;
}

function runAsNobody({ place }: EmbeddedServer): number {
  const config = path.join(confIn(rootOf(place)), 'postgresql.conf');
  const argv = ['-D', place.cluster, '-c', `config_file=${config}`];
  const options = { cwd: rootOf(place), stdio: 'ignore', detached: true, env: {}, ...nobody } as const;
  const child = spawn(path.join(place.binaries, 'bin/postgres'), argv, options);
  child.unref();
  return child.pid ?? 0;
}

function isConnected(answer: unknown): boolean {
  return answer === 'connected';
}

function ownersIn(folder: string): Set<number> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return new Set([folder, ...names.map((name) => path.join(folder, name))].map((file) => lstatSync(file).uid));
}
