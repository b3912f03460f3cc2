// `db backup` and `db restore`: everything on record goes into one file and comes back as it was, whole or not at all.
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HandoffDocument } from '../../src/handoff/documents.ts';
import { type CopyFailure, openBackup, readBackup, writeBackup } from '../../src/record/backup.ts';
import { connect } from '../../src/record/connection.ts';
import { readPlace, rootOf } from '../../src/record/embedded/place.ts';
import { migrate, newestSchema } from '../../src/record/migrate.ts';
import { exportRows } from '../../src/record/queries.ts';
import { cloneDatabase, type TestDatabase } from './database.ts';
import { openStandIn } from './stand-in.ts';
import { testWorld } from './world.ts';

const maker = { version: '0.0.1', host: null };
const quiet = () => ({ watch: () => {}, signal: new AbortController().signal });
const odd = 'a\tb\\.\n\\.\n\\N "quoted" \u{1f986} \u202e end';

async function database(): Promise<TestDatabase> {
  const mine = await cloneDatabase(async (url) => void (await migrate(url)), 'wk_test_migrated');
  onTestFinished(() => mine.drop());
  return mine;
}

function place(): string {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'wk-backup-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return path.join(dir, 'wk.backup');
}

async function on<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connect(url);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const ask = (url: string, sql: string, values: unknown[] = []) =>
  on(url, async (client) => (await client.query(sql, values)).rows);

/** An agent with a handoff in the middle, and texts that a file of rows could take for its own marks. */
async function fill(url: string): Promise<void> {
  await on(url, async (client) => {
    await client.query("INSERT INTO hosts (id, name) VALUES ('h', $1)", [odd]);
    await client.query(
      `INSERT INTO agents (host, name, project, client, authority, boot_id, pid, start_ticks, started_at, state, state_since, source, confidence, last_seen)
       SELECT 'h', name, 'shop', 'claude-code', 'manage', 'b', 1, '1', now(), 'idle', now(), 'registry', 0.1, now()
       FROM unnest(ARRAY['shop-ps', 'gone']) AS name`,
    );
    await client.query("DELETE FROM agents WHERE name = 'gone'");
    await client.query(
      `INSERT INTO handoffs (id, agent_id, project, trigger, recipe, nonce, file, cwd, old_session, requested_at, step, sha256, document)
       SELECT $1, id, 'shop', 'human', 'document', 'n', '/f', '/', 's', now(), 'saved', 'x', $2 FROM agents`,
      [randomUUID(), odd],
    );
    await client.query(
      `INSERT INTO events (id, at, agent_id, source, kind, data)
       SELECT gen_random_uuid(), now(), id, 'hooks', 'turn-end', jsonb_build_object('text', $1::text) FROM agents`,
      [odd],
    );
    const act = randomUUID();
    await client.query(
      "INSERT INTO actions (id, agent_id, kind, trigger, intent) SELECT $1, id, 'prompt', 'human', '{}' FROM agents",
      [act],
    );
    await client.query("INSERT INTO action_outcomes (action_id, outcome) VALUES ($1, 'confirmed')", [act]);
  });
}

/** Every row of every table, but for when the tables were made. */
async function rowsOf(url: string): Promise<string[]> {
  const rows: string[] = [];
  const done = await exportRows(url, async (table, row) => {
    if (table !== 'schema_migrations') rows.push(`${table} ${JSON.stringify(row)}`);
  });
  expect(done.ok).toBe(true);
  return rows.sort();
}

async function backedUp(url: string): Promise<string> {
  const file = place();
  const done = await writeBackup(url, file, maker, quiet());
  if (!done.ok) throw new Error(done.message);
  return file;
}

async function restored(url: string, file: string, replace = false): Promise<CopyFailure | 'ok'> {
  const backup = await openBackup(file, quiet().signal);
  const done = backup.ok ? await readBackup(url, backup.value, { ...quiet(), ownHost: 'h', replace }) : backup;
  return done.ok ? 'ok' : done.reason;
}

/** As somebody would who knows how such a file is made. */
function rewritten(file: string, change: (text: string) => string): void {
  const text = change(readFileSync(file, 'latin1').replace(/end [0-9a-f]{64}\n$/, ''));
  const hash = createHash('sha256').update(Buffer.from(text, 'latin1')).digest('hex');
  writeFileSync(file, Buffer.from(`${text}end ${hash}\n`, 'latin1'));
}

describe('what is read back', () => {
  it('is every row of every table, and numbers go on where they were', async () => {
    const from = await database();
    const to = await database();
    await fill(from.adminUrl);
    const file = await backedUp(from.adminUrl);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(path.dirname(file))).toEqual(['wk.backup']);
    expect(await restored(to.adminUrl, file)).toBe('ok');
    expect(await rowsOf(to.adminUrl)).toEqual(await rowsOf(from.adminUrl));
    const next = "SELECT nextval(pg_get_serial_sequence('agents', 'id')) AS n";
    expect(await ask(to.adminUrl, next)).toEqual(await ask(from.adminUrl, next));
    // Its rights came back as well: the daemon's role may still only add to the ledger.
    await expect(ask(to.url, "UPDATE actions SET kind = 'x'")).rejects.toThrow(/permission denied/);
    expect(await ask(to.url, 'SELECT 1 FROM ps_sessions')).toHaveLength(1);
  });

  it('takes the place of what is there only when told to', async () => {
    const from = await database();
    await fill(from.adminUrl);
    const file = await backedUp(from.adminUrl);
    const was = await rowsOf(from.adminUrl);
    await ask(from.adminUrl, "INSERT INTO hosts (id, name) VALUES ('later', 'later')");
    expect(await restored(from.adminUrl, file)).toBe('not-empty');
    expect(await rowsOf(from.adminUrl)).not.toEqual(was);
    expect(await restored(from.adminUrl, file, true)).toBe('ok');
    expect(await rowsOf(from.adminUrl)).toEqual(was);
  });

  it('of an earlier schema is brought up to date', async () => {
    const from = await database();
    const to = await database();
    await ask(
      from.adminUrl,
      "INSERT INTO authority_overrides (host, agent, authority) VALUES ('h', 'shop-ps', 'observe')",
    );
    const file = await backedUp(from.adminUrl);
    // Without what came later: two columns, and the last table, which is empty.
    rewritten(file, (text) =>
      text
        .replace(`"schema":${newestSchema()}`, '"schema":9')
        .replace(',"seen_at"', '')
        .replace(',"asked_by"', '')
        .replace(/,\{"name":"context_reports"[^}]*\}/, '')
        .replace(/\\\.\n$/, ''),
    );
    expect(await restored(to.adminUrl, file)).toBe('ok');
    expect(await rowsOf(to.adminUrl)).toEqual(await rowsOf(from.adminUrl));
    expect(await ask(to.adminUrl, 'SELECT max(version) AS n FROM schema_migrations')).toEqual([{ n: newestSchema() }]);
    expect(await ask(to.adminUrl, 'SELECT seen_at FROM hosts')).toEqual([]);
  });
});

describe('nothing is changed by', () => {
  it.each<[string, (text: string) => string, CopyFailure]>([
    ['a file that is cut off', (text) => text.slice(0, -200), 'bad-file'],
    ['a file without its last byte', (text) => text.slice(0, -1), 'bad-file'],
    ['an altered file', (text) => text.replace('shop-ps', 'shop-pz'), 'bad-file'],
    ['an empty file', () => '', 'bad-file'],
    ['another file', () => 'hello\n', 'bad-file'],
    ['a file that begins as one', () => 'watchkeeper-backup null\n', 'bad-file'],
    ['one of a newer schema', (text) => text.replace(/"schema":\d+/, '"schema":9999'), 'newer'],
    ['one of a newer form', (text) => text.replace('"v":1', '"v":2'), 'newer'],
  ])('%s', async (_, change, reason) => {
    const from = await database();
    await fill(from.adminUrl);
    const file = await backedUp(from.adminUrl);
    const was = await rowsOf(from.adminUrl);
    writeFileSync(file, change(readFileSync(file, 'latin1')), 'latin1');
    expect(await restored(from.adminUrl, file, true)).toBe(reason);
    expect(await rowsOf(from.adminUrl)).toEqual(was);
  });

  it('one that breaks in the middle, that names a table of somebody else, and where others build on ours', async () => {
    const from = await database();
    await fill(from.adminUrl);
    await ask(from.adminUrl, 'CREATE TABLE mine (n integer)');
    const file = await backedUp(from.adminUrl);
    expect(readFileSync(file, 'utf8')).not.toContain('mine');
    const was = await rowsOf(from.adminUrl);
    const whole = readFileSync(file);
    rewritten(file, (text) => text.replace('\tconfirmed\t', '\t\\N\t'));
    expect(await restored(from.adminUrl, file, true)).toBe('unavailable');
    writeFileSync(file, whole);
    rewritten(file, (text) => text.replace('{"name":"scores"', '{"name":"mine"'));
    expect(await restored(from.adminUrl, file, true)).toBe('bad-file');
    writeFileSync(file, whole);
    await ask(from.adminUrl, 'CREATE VIEW theirs AS SELECT name FROM agents');
    expect(await restored(from.adminUrl, file, true)).toBe('unavailable');
    expect(await rowsOf(from.adminUrl)).toEqual(was);
    await ask(from.adminUrl, 'DROP VIEW theirs');
    expect(await restored(from.adminUrl, file, true)).toBe('ok');
    expect(await rowsOf(from.adminUrl)).toEqual(was);
  });

  it('a restore while the daemon of another host writes there', async () => {
    const from = await database();
    await ask(from.adminUrl, "INSERT INTO hosts (id, name, seen_at) VALUES ('h', 'own', now()), ('o', 'other', now())");
    const file = await backedUp(from.adminUrl);
    expect(await restored(from.adminUrl, file, true)).toBe('in-use');
    await ask(from.adminUrl, "UPDATE hosts SET seen_at = now() - interval '5 minutes' WHERE id = 'o'");
    expect(await restored(from.adminUrl, file, true)).toBe('ok');
  });

  it('a backup under the name of another file, or where nothing can be written', async () => {
    const from = await database();
    const file = place();
    writeFileSync(file, 'export PATH\n');
    expect(await writeBackup(from.adminUrl, file, maker, quiet())).toMatchObject({ ok: false, reason: 'unwritable' });
    expect(readFileSync(file, 'utf8')).toBe('export PATH\n');
    const nowhere = path.join(path.dirname(file), 'no', 'such.backup');
    expect(await writeBackup(from.adminUrl, nowhere, maker, quiet())).toMatchObject({ reason: 'unwritable' });
    rmSync(file);
    for (const _ of ['first', 'again'])
      expect(await writeBackup(from.adminUrl, file, maker, quiet())).toMatchObject({ ok: true });
    expect(readdirSync(path.dirname(file))).toEqual(['wk.backup']);
  });
});

it('a large database goes through a little at a time, and a stop in the middle leaves nothing', async () => {
  const from = await database();
  await fill(from.adminUrl);
  await ask(
    from.adminUrl,
    `INSERT INTO events (id, at, agent_id, source, kind, data)
     SELECT gen_random_uuid(), now(), a.id, 'hooks', 'x', jsonb_build_object('text', repeat('x', 100000))
     FROM agents a, generate_series(1, 1200)`,
  );
  const file = place();
  const stop = new AbortController();
  const stopped = await writeBackup(from.adminUrl, file, maker, {
    watch: (bytes) => void (bytes > 3e7 && stop.abort()),
    signal: stop.signal,
  });
  expect(stopped).toMatchObject({ ok: false, reason: 'stopped' });
  expect(readdirSync(path.dirname(file))).toEqual([]);

  let peak = 0;
  const { arrayBuffers: before } = process.memoryUsage();
  const watch = () => {
    peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
  };
  const done = await writeBackup(from.adminUrl, file, maker, { ...quiet(), watch });
  expect(done).toMatchObject({ ok: true, value: { rows: { events: 1201 } } });
  expect(statSync(file).size).toBeGreaterThan(1.2e8);
  const backup = await openBackup(file, quiet().signal);
  if (!backup.ok) throw new Error(backup.message);
  const to = await database();
  const back = new AbortController();
  const options = { ownHost: 'h', replace: true, watch: (bytes: number) => void (bytes > 3e7 && back.abort()) };
  expect(await readBackup(to.adminUrl, backup.value, { ...options, signal: back.signal })).toMatchObject({
    reason: 'stopped',
  });
  expect(await ask(to.adminUrl, 'SELECT 1 FROM agents')).toEqual([]);
  expect(
    await readBackup(to.adminUrl, backup.value, { ...quiet(), ownHost: 'h', replace: false, watch }),
  ).toMatchObject({
    value: { rows: { events: 1201 } },
  });
  expect(peak).toBeLessThan(64 * 1024 * 1024);
});

it('a lost data directory comes back: its agents, what a person said of them and its open handoff go on', async () => {
  const world = await testWorld();
  const config = path.join(world.dir, 'config.yaml');
  writeFileSync(config, JSON.stringify({ tickSeconds: 0.3 }));
  world.env = { WATCHKEEPER_CONFIG: config };
  const file = path.join(world.dir, 'wk.backup');
  await openStandIn(world, 'full-ps');
  await openStandIn(world, 'calm-ps');
  await world.up();
  await world.agentIs('full-ps', 'idle');
  await world.agentIs('calm-ps', 'idle');
  expect((await world.run('authority', 'calm-ps', 'observe')).code).toBe(0);
  const begun = JSON.parse((await world.run('handoff', 'full-ps', '--json')).stdout) as HandoffDocument;
  expect(begun.step).toBe('requested');

  const done = await world.run('db', 'backup', file, '--json');
  expect(JSON.parse(done.stdout)).toMatchObject({ v: 1, file, rows: { agents: 2, handoffs: 1 }, hosts: [{}] });
  expect(JSON.parse(done.stdout).bytes).toBe(statSync(file).size);
  const running = await world.run('db', 'restore', file, '--replace');
  expect(running).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/a daemon \(pid \d+\) writes to it: stop it/),
  });
  await world.down();
  expect(await world.run('db', 'restore', file, '--json')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('"error":{"code":"refused","message":"the database is not empty'),
  });
  // Nothing was left running by either.
  expect((await world.run('down')).stderr).toBe('watchkeeper: nothing was running\n');

  const recorded = readPlace(world.dataDir);
  if (recorded === null) throw new Error('no database');
  rmSync(rootOf(recorded), { recursive: true });
  rmSync(world.dataDir, { recursive: true });
  const back = await world.run('db', 'restore', file);
  expect(back).toMatchObject({ code: 0, stdout: expect.stringMatching(/^restored: \d+ rows, as they were at /) });
  await world.up();
  await world.agentIs('full-ps', ({ handoff }) => handoff === 'requested');
  const { items } = JSON.parse((await world.run('handoffs', 'full-ps', '--json')).stdout) as {
    items: HandoffDocument[];
  };
  expect(items.map(({ id, step }) => ({ id, step }))).toEqual([{ id: begun.id, step: 'requested' }]);
  expect((await world.agent('calm-ps'))?.authority).toBe('observe');
  expect(await world.query('SELECT count(*)::int AS n FROM hosts')).toEqual([{ n: 1 }]);
  expect(await world.query('SELECT count(*)::int AS n FROM agents')).toEqual([{ n: 2 }]);
});
