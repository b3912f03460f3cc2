// What is kept, for how long and of whom: rows of a host go by time that was lived through, never by the wall clock alone.
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../../src/conform/until.ts';
import type { AgingRows } from '../../src/model/aging.ts';
import type { Store } from '../../src/model/store.ts';
import { migrate } from '../../src/record/migrate.ts';
import { openStore } from '../../src/record/store.ts';
import { cloneDatabase, type TestDatabase } from './database.ts';
import { testWorld, type World, waitMs } from './world.ts';

const day = 86_400_000;
const nowMs = Date.now();
const ago = (days: number) => new Date(nowMs - days * day).toISOString();

let database: TestDatabase;
let store: Store;
let client: pg.Client;

beforeAll(async () => {
  database = await cloneDatabase(async (url) => void (await migrate(url)), 'wk_test_migrated');
  store = openStore(database.url);
  client = new pg.Client({ connectionString: database.adminUrl });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await store.close();
  await database.drop();
});

async function rows<T = Record<string, unknown>>(sql: string, values: unknown[] = []): Promise<T[]> {
  return (await client.query(sql, values)).rows as T[];
}

async function newAgent(host: string, name: string, days: number, state = 'ended'): Promise<string> {
  const [row] = await rows<{ id: string }>(
    `INSERT INTO agents (host, name, project, client, authority, boot_id, pid, start_ticks, started_at, state, state_since, source, confidence, last_seen)
     VALUES ($1, $2, 'p', 'claude-code', 'observe', 'b', 1, '1', $3, $4, $3, 'process', 1, $3) RETURNING id`,
    [host, name, ago(days), state],
  );
  return row?.id ?? '';
}

/** One row of each kind, of an agent of this host. */
async function fill(host: string, agent: string, days: number): Promise<void> {
  const at = ago(days);
  const [event, handoff, incident, score, action] = Array.from({ length: 5 }, () => randomUUID());
  await rows("INSERT INTO events (id, at, agent_id, source, kind) VALUES ($1, $2, $3, 'process', 'x')", [
    event,
    at,
    agent,
  ]);
  await rows(
    "INSERT INTO context_points (agent_id, session_id, at, used, window_size, usable, source) VALUES ($1, 's', $2, 1, 9, 9, 'hook')",
    [agent, at],
  );
  await rows(
    "INSERT INTO health_checks (project, check_time, check_type, status, agent_id, host) VALUES ('p', $1, 'x', 'ok', $2, $3)",
    [at, agent, host],
  );
  await rows(
    "INSERT INTO active_spawns (project, task_id, spawn_time, ended_at, status, agent_id, host) VALUES ('p', $1, $2, $2, 'finished', $3, $4)",
    [event, at, agent, host],
  );
  await rows(
    `INSERT INTO handoffs (id, agent_id, project, trigger, recipe, nonce, file, cwd, old_session, requested_at, step)
     VALUES ($1, $2, 'p', 'human', 'document', 'n', '/f', '/', 's', $3, 'failed')`,
    [handoff, agent, at],
  );
  await rows('INSERT INTO sessions (agent_id, session_id, started_at, ended_at) VALUES ($1, $2, $3, $3)', [
    agent,
    event,
    at,
  ]);
  await rows(
    `INSERT INTO incidents (id, agent_id, check_name, severity, text, opened_at, closed_at, host) VALUES ($1, $2, 'x', 'warning', 't', $3, $3, $4)`,
    [incident, agent, at, host],
  );
  await rows(
    "INSERT INTO scores (incident_id, host, check_name, opened_at, ended_at, ending) VALUES ($1, $2, 'x', $3, $3, 'unknown')",
    [score, host, at],
  );
  await rows(
    "INSERT INTO actions (id, at, agent_id, kind, trigger, intent, host) VALUES ($1, $2, $3, 'prompt', 'human', '{}', $4)",
    [action, at, agent, host],
  );
  await rows("INSERT INTO action_outcomes (action_id, at, outcome) VALUES ($1, $2, 'confirmed')", [action, at]);
}

const tables: Record<Exclude<AgingRows, 'agents'>, string> = {
  events: 'events',
  points: 'context_points',
  checks: 'health_checks',
  spawns: 'active_spawns',
  handoffs: 'handoffs',
  sessions: 'sessions',
  incidents: 'incidents',
  scores: 'scores',
  ledger: 'actions',
};

async function count(table: string, agent: string): Promise<number> {
  const mine = table === 'scores' ? 'host = (SELECT host FROM agents WHERE id = $1)' : 'agent_id = $1';
  const [row] = await rows<{ n: number }>(`SELECT count(*)::int AS n FROM ${table} WHERE ${mine}`, [agent]);
  return row?.n ?? -1;
}

describe('what is too old', () => {
  it('of each kind goes, so many at a time; the younger, and another host’s, stay', async () => {
    const mine = await newAgent('mine', 'a', 500);
    const other = await newAgent('other', 'a', 500);
    for (const days of [500, 490, 480, 10]) await fill('mine', mine, days);
    await fill('other', other, 500);
    for (const [kind, table] of Object.entries(tables)) {
      const expire = (rowsMax: number) => store.expire('mine', kind as AgingRows, nowMs - 400 * day, rowsMax);
      expect(await expire(2), kind).toMatchObject({ ok: true, value: 2 });
      expect(await count(table, mine), kind).toBe(2);
      expect(await expire(10), kind).toMatchObject({ ok: true, value: 1 });
      expect(await expire(10), kind).toMatchObject({ ok: true, value: 0 });
      expect([await count(table, mine), await count(table, other)], kind).toEqual([1, 1]);
    }
    expect(
      await rows('SELECT 1 FROM action_outcomes o JOIN actions a ON a.id = o.action_id WHERE a.agent_id = $1', [mine]),
    ).toHaveLength(1);
    // Whom the ledger speaks of stays; whom nobody speaks of goes, and only of this host.
    const unspoken = await newAgent('mine', 'unspoken', 500);
    const others = await newAgent('other', 'unspoken', 500);
    expect(await store.expire('mine', 'agents', nowMs - 400 * day, 10)).toMatchObject({ value: 1 });
    const left = await rows<{ id: string }>('SELECT id FROM agents WHERE id = ANY ($1)', [
      [mine, other, unspoken, others],
    ]);
    expect(left.map(({ id }) => id).sort()).toEqual([mine, other, others].sort());
  });

  it('what is not over stays, however old', async () => {
    const agent = await newAgent('open', 'a', 500, 'idle');
    await rows(
      "INSERT INTO incidents (id, agent_id, check_name, severity, text, opened_at, host) VALUES ($1, $2, 'x', 'warning', 't', $3, 'open')",
      [randomUUID(), agent, ago(500)],
    );
    await rows(
      `INSERT INTO handoffs (id, agent_id, project, trigger, recipe, nonce, file, cwd, old_session, requested_at, step)
       VALUES ($1, $2, 'p', 'human', 'document', 'n', '/f', '/', 's', $3, 'prompted')`,
      [randomUUID(), agent, ago(500)],
    );
    await rows(
      "INSERT INTO active_spawns (project, task_id, spawn_time, status, agent_id, host) VALUES ('p', 'open', $1, 'running', $2, 'open')",
      [ago(500), agent],
    );
    for (const kind of ['incidents', 'handoffs', 'spawns', 'sessions', 'agents'] as const)
      expect(await store.expire('open', kind, nowMs, 10), kind).toMatchObject({ ok: true, value: 0 });
  });

  it('of the ledger is what is a year older than its newest row, whatever time is asked for, and by whom', async () => {
    const agent = await newAgent('ledger', 'a', 1);
    await fill('ledger', agent, 400);
    await fill('ledger', agent, 300);
    for (const before of ['infinity', new Date(nowMs + 10_000 * day).toISOString()])
      await rows("SELECT expire_ledger('ledger', $1, 100)", [before]);
    expect(await count('actions', agent)).toBe(1);
    const plain = new pg.Client({ connectionString: database.url });
    await plain.connect();
    await plain.query("SET watchkeeper.expires = 'on'");
    await expect(plain.query('DELETE FROM actions')).rejects.toThrow(/permission denied/);
    await expect(plain.query('DELETE FROM action_outcomes')).rejects.toThrow(/permission denied/);
    await plain.end();
    await expect(client.query('DELETE FROM actions')).rejects.toThrow(/the ledger only grows/);
  });
});

describe('a host', () => {
  const host = (id: string, given: object = {}) => ({
    id,
    name: `name of ${id}`,
    machine: null,
    copyOf: null,
    ...given,
  });
  const authorities = async (id: string) => {
    const read = await store.loadAuthorities(id);
    return read.ok ? Object.fromEntries(read.value) : read;
  };

  it('takes over what is on record under its name, once; another of the same name does not, but keeps a person’s `observe`', async () => {
    await newAgent('old-name', 'a', 0, 'idle');
    await rows(
      "INSERT INTO authority_overrides (host, agent, authority) VALUES ('old-name', 'a', 'observe'), ('old-name', 'b', 'manage')",
    );
    await rows(
      "INSERT INTO incidents (id, check_name, severity, text, opened_at, host) VALUES ($1, 'mass-failure', 'critical', 't', now(), 'old-name')",
      [randomUUID()],
    );
    await rows(
      "INSERT INTO actions (id, kind, trigger, intent, host) VALUES ($1, 'notify', 'human', '{}', 'old-name')",
      [randomUUID()],
    );
    const both = await Promise.all(['first', 'second'].map((id) => store.enterHost({ ...host(id), name: 'old-name' })));
    expect(both).toMatchObject([{ ok: true }, { ok: true }]);
    const [owner] = await rows<{ id: string }>("SELECT id FROM hosts WHERE was = 'old-name'");
    const [id, other] = owner?.id === 'first' ? ['first', 'second'] : ['second', 'first'];
    expect(await authorities(id)).toEqual({ a: 'observe', b: 'manage' });
    expect(await authorities(other)).toEqual({ a: 'observe' });
    expect(await store.openIncidents(id)).toMatchObject({ value: [{ check: 'mass-failure' }] });
    expect(await store.openIncidents(other)).toMatchObject({ value: [] });
    expect(await store.load(id)).toMatchObject({ value: [{ view: { agent: 'a', host: id } }] });
    expect(await store.load(other)).toMatchObject({ value: [] });
  });

  it('is the same under another name', async () => {
    await store.enterHost(host('renamed', { name: 'before' }));
    await store.saveAuthority({ host: 'renamed', agent: 'a' }, 'observe');
    await newAgent('renamed', 'a', 0, 'idle');
    await store.enterHost(host('renamed', { name: 'after' }));
    expect(await authorities('renamed')).toEqual({ a: 'observe' });
    expect(await store.load('renamed')).toMatchObject({ value: [{ view: { agent: 'a', host: 'renamed' } }] });
  });

  it.each([
    ['a copy', { copyOf: 'original' }],
    ['a second supervisor on the machine', { machine: 'm' }],
  ])('that is %s begins anew, but what a person forbade stays forbidden', async (what, given) => {
    await store.enterHost(host('original', { machine: 'm' }));
    await store.saveAuthority({ host: 'original', agent: 'forbidden' }, 'observe');
    await store.saveAuthority({ host: 'original', agent: 'allowed' }, 'manage');
    await store.enterHost(host(what, given));
    expect(await authorities(what)).toEqual({ forbidden: 'observe' });
    await store.enterHost(host('a stranger', { machine: 'n' }));
    expect(await authorities('a stranger')).toEqual({});
  });
});

it('of several open handoffs of one agent, from before there was one at most, the newest goes on', async () => {
  const mine = await cloneDatabase(async () => {}, 'wk_test_empty');
  const before = new pg.Client({ connectionString: mine.adminUrl });
  await before.connect();
  onTestFinished(async () => {
    await before.end();
    await mine.drop();
  });
  const folder = path.join(import.meta.dirname, '../../src/record/migrations');
  await before.query('CREATE TABLE schema_migrations (version integer PRIMARY KEY, name text NOT NULL)');
  for (const file of readdirSync(folder).filter((name) => name < '0007')) {
    await before.query(readFileSync(path.join(folder, file), 'utf8'));
    await before.query('INSERT INTO schema_migrations VALUES ($1, $2)', [Number(file.slice(0, 4)), file]);
  }
  await before.query(sentinel, ['h']);
  await before.query(
    `INSERT INTO handoffs (id, agent_id, project, trigger, recipe, nonce, file, cwd, old_session, requested_at, step)
     SELECT gen_random_uuid(), id, 'p', 'human', 'document', n, '/f', '/', 's', now() - make_interval(hours => n), 'prompted'
     FROM agents, generate_series(1, 3) n`,
  );
  expect(await migrate(mine.adminUrl)).toMatchObject({ ok: true });
  const { rows: after } = await before.query(
    'SELECT h.nonce, h.step, s.step AS taken, s.reason FROM handoffs h LEFT JOIN handoff_steps s ON s.handoff_id = h.id ORDER BY nonce',
  );
  const failed = { step: 'failed', taken: 'failed', reason: 'stale' };
  expect(after).toEqual([
    { nonce: '1', step: 'prompted', taken: null, reason: null },
    { nonce: '2', ...failed },
    { nonce: '3', ...failed },
  ]);
});

it('a clock that is 40 days ahead, for a start or for several, deletes nothing', async () => {
  const world = await testWorld();
  const mine = await cloneDatabase(async (url) => void (await migrate(url)), 'wk_test_migrated');
  onTestFinished(() => mine.drop());
  world.env = { DATABASE_URL: mine.adminUrl };
  await world.up();
  const [own] = await world.query<{ id: string; name: string }>('SELECT id, name FROM hosts');
  expect(own?.name).toBe(os.hostname());
  await fillWorld(world, own?.id ?? '');
  await world.down();
  // Forty days back for the rows is the same as forty days ahead for the clock.
  for (const [table, column] of timed)
    await world.query(`UPDATE ${table} SET ${column} = ${column} - interval '40 days'`);
  for (let starts = 0; starts < 2; starts += 1) {
    await world.query("UPDATE agents SET last_seen = '2020-01-01', state = 'ended' WHERE name = 'sentinel'");
    await world.up();
    const gone = async () => (await world.query("SELECT 1 FROM agents WHERE name = 'sentinel'")).length === 0;
    await until('all that is too old is gone', gone, waitMs);
    for (const [table] of timed.filter(([table]) => table !== 'clock_marks'))
      expect((await world.query(`SELECT 1 FROM ${table}`)).length, table).toBe(1);
    await world.query(sentinel, [own?.id]);
    await world.down();
  }
});

const timed = [
  ['events', 'at'],
  ['context_points', 'at'],
  ['health_checks', 'check_time'],
  ['handoffs', 'requested_at'],
  ['agents', 'last_seen'],
  ['incidents', 'closed_at'],
  ['clock_marks', 'at'],
] as const;
const sentinel = `INSERT INTO agents (host, name, project, client, authority, boot_id, pid, start_ticks, started_at, state, state_since, source, confidence, last_seen)
  VALUES ($1, 'sentinel', 'p', 'claude-code', 'observe', 'b', 1, '1', '2020-01-01', 'ended', '2020-01-01', 'process', 1, '2020-01-01')`;

async function fillWorld(world: World, host: string): Promise<void> {
  await world.query(sentinel.replace("'sentinel'", "'kept'").replaceAll("'2020-01-01'", 'now()'), [host]);
  await world.query(
    "INSERT INTO events (id, at, agent_id, source, kind) SELECT gen_random_uuid(), now(), id, 'process', 'x' FROM agents",
  );
  await world.query(
    "INSERT INTO context_points (agent_id, session_id, at, used, window_size, usable, source) SELECT id, 's', now(), 1, 9, 9, 'hook' FROM agents",
  );
  await world.query(
    "INSERT INTO health_checks (project, check_time, check_type, status) VALUES ('p', now(), 'x', 'ok')",
  );
  await world.query(
    `INSERT INTO handoffs (id, agent_id, project, trigger, recipe, nonce, file, cwd, old_session, requested_at, step)
     SELECT gen_random_uuid(), id, 'p', 'human', 'document', 'n', '/f', '/', 's', now(), 'failed' FROM agents`,
  );
  await world.query(
    `INSERT INTO incidents (id, agent_id, check_name, severity, text, opened_at, closed_at, host)
     SELECT gen_random_uuid(), id, 'x', 'warning', 't', now(), now(), $1 FROM agents`,
    [host],
  );
  await world.query(sentinel, [host]);
}
