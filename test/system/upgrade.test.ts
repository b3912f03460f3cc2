// A database that an earlier version left in the middle of everything: it is brought up to date, and what was open goes on.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../../src/conform/until.ts';
import type { HandoffDocument } from '../../src/handoff/documents.ts';
import { cloneDatabase } from './database.ts';
import { openStandIn, prompt, type StandIn, startTicks } from './stand-in.ts';
import { TypedClient } from './typed-client.ts';
import { testWorld, type World, waitMs } from './world.ts';

const migrations = path.join(import.meta.dirname, '../../src/record/migrations');
const fixtures = path.join(import.meta.dirname, '../fixtures/databases');
const said = 'go on with the shop';

interface Row {
  table: string;
  row: Record<string, unknown>;
}

describe.each([
  // Before a host had an id of its own, and before rows of several hosts stood apart.
  { schema: 6, arrived: true },
  { schema: 9, arrived: true },
  { schema: 9, arrived: false },
])('a database with schema $schema, whose last prompt arrived: $arrived', ({ schema, arrived }) => {
  it('is migrated; its handoff, trouble, background work and unfinished prompt go on, and nothing is done twice', async () => {
    const world = await testWorld();
    const config = path.join(world.dir, 'config.yaml');
    writeFileSync(config, JSON.stringify({ tickSeconds: 0.3, waiting: { notifyMinutes: 0.02 } }));
    // Its data directory is what it was: the host has its id from an earlier start.
    world.env = { WATCHKEEPER_CONFIG: config };
    await world.up();
    await world.down();
    const agents = await openAgents(world);
    agents.waits.register({ status: 'waiting', waitingFor: 'permission prompt' });
    const rows = rowsOf(schema, world, agents);
    const mine = await databaseOf(schema, rows);
    writeFileSync(path.join(world.dir, 'build.log'), 'one line\n');
    const tag = String(only(rows, 'actions', ({ intent }) => (intent as { text: string }).text === said).tag);
    if (arrived) agents.typed.write(prompt(`${said} [${tag}]`));

    world.env.DATABASE_URL = mine.adminUrl;
    await world.up();
    const query = <T extends pg.QueryResultRow>(sql: string) => on<T>(mine.adminUrl, sql);

    await world.agentIs('waits-ps', 'waiting/permission');
    const full = await world.agentIs('full-ps', ({ handoff }) => handoff !== null);
    expect(full.handoff).toBe('requested');
    const { items } = JSON.parse((await world.run('handoffs', 'full-ps', '--json')).stdout) as {
      items: HandoffDocument[];
    };
    expect(items.map(({ id, step }) => ({ id, step }))).toEqual([{ id: idOf(rows, 'handoffs'), step: 'requested' }]);

    const outcomes = () =>
      query<{ outcome: string; reason: string }>(
        `SELECT o.outcome, o.reason FROM action_outcomes o JOIN actions a ON a.id = o.action_id WHERE a.intent->>'text' = '${said}' ORDER BY o.id`,
      );
    await until('the unfinished prompt settled', async () => (await outcomes()).length > 0, waitMs);
    const settled = { outcome: arrived ? 'confirmed' : 'uncertain', reason: 'daemon-restarted' };
    expect((await outcomes())[0]).toEqual(settled);

    const work = JSON.parse((await world.run('spawn-track', 'list', '--json')).stdout) as { items: object[] };
    expect(work.items).toMatchObject([{ project: 'shop', task_id: 'nightly', status: 'running' }]);
    const inbox = JSON.parse((await world.run('inbox', '--json')).stdout) as { items: { id: string }[] };
    expect(inbox.items.map(({ id }) => id)).toContain(idOf(rows, 'incidents'));

    // Rounds of the rules later.
    for (const [status, state] of [
      ['busy', 'working/thinking'],
      ['idle', 'idle'],
    ] as const) {
      agents.typed.register({ status });
      await world.agentIs('typed-ps', state);
    }
    expect(await query("SELECT 1 FROM actions WHERE kind = 'notify'")).toHaveLength(1);
    expect(await query("SELECT 1 FROM incidents WHERE check_name = 'waiting-human'")).toHaveLength(1);
    expect(agents.typed.submitted()).toEqual([]);
    expect(await query(`SELECT 1 FROM actions WHERE intent->>'text' = '${said}'`)).toHaveLength(1);
    const [one] = await query<{ hosts: number }>('SELECT count(DISTINCT host)::int AS hosts FROM agents');
    expect(one?.hosts).toBe(1);
    await world.down();
  });
});

interface Agents {
  full: StandIn;
  waits: StandIn;
  typed: TypedClient;
}

async function openAgents(world: World): Promise<Agents> {
  const full = await openStandIn(world, 'full-ps');
  const waits = await openStandIn(world, 'waits-ps');
  const typed = await TypedClient.open(world, 'typed-ps');
  for (const each of [full, waits, typed]) each.turn();
  return { full, waits, typed };
}

/** The recorded rows, of this machine, these agents and this moment. */
function rowsOf(schema: number, world: World, agents: Agents): Row[] {
  const recorded = readFileSync(path.join(fixtures, `schema-${schema}.ndjson`), 'utf8');
  const { id, machine } = JSON.parse(readFileSync(path.join(world.dataDir, 'host.json'), 'utf8'));
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const filled = recorded
    .replaceAll('{{dir}}', world.dir)
    .replaceAll('{{dashed}}', world.dir.replaceAll(/[^a-zA-Z0-9]/g, '-'))
    .replaceAll('{{hostname}}', os.hostname())
    .replaceAll('{{host}}', id)
    .replaceAll('"{{machine}}"', JSON.stringify(machine))
    .replaceAll('{{boot}}', boot);
  const stamp = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)/g;
  const lastMs = Math.max(...[...filled.matchAll(stamp)].map(([text]) => Date.parse(text)));
  const shiftMs = Date.now() - 1_000 - lastMs;
  let text = filled.replaceAll(stamp, (at) => new Date(Date.parse(at) + shiftMs).toISOString());
  for (const { table, row } of parse(text).filter((each) => each.table === 'agents'))
    if (table === 'agents') text = text.replaceAll(String(row.session_id), agentCalled(agents, row.name).sessionId);
  return parse(text).map(({ table, row }) => {
    if (table !== 'agents') return { table, row };
    const { pid } = agentCalled(agents, row.name);
    return { table, row: { ...row, pid, start_ticks: startTicks(pid) } };
  });
}

function agentCalled(agents: Agents, name: unknown): StandIn {
  return agents[String(name).replace('-ps', '') as keyof Agents];
}

function parse(text: string): Row[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row);
}

function only(rows: Row[], table: string, fits: (row: Record<string, unknown>) => boolean): Record<string, unknown> {
  const found = rows.filter((each) => each.table === table && fits(each.row));
  if (found.length !== 1) throw new Error(`${found.length} rows of ${table}`);
  return found[0]?.row.intent as Record<string, unknown>;
}

function idOf(rows: Row[], table: string): string {
  return String(rows.find((each) => each.table === table)?.row.id);
}

/** Its tables as that version made them, with these rows. */
async function databaseOf(schema: number, rows: Row[]) {
  const mine = await cloneDatabase(async () => {}, 'wk_test_empty');
  onTestFinished(() => mine.drop());
  const client = new pg.Client({ connectionString: mine.adminUrl });
  await client.connect();
  try {
    await client.query(
      'CREATE TABLE schema_migrations (version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())',
    );
    for (const file of readdirSync(migrations).sort()) {
      const version = Number(file.slice(0, 4));
      if (version > schema) continue;
      await client.query(readFileSync(path.join(migrations, file), 'utf8'));
      await client.query('INSERT INTO schema_migrations (version, name) VALUES ($1, $2)', [version, file.slice(5, -4)]);
    }
    // The rows refer to each other.
    await client.query('SET session_replication_role = replica');
    for (const { table, row } of rows) {
      await client.query(
        `INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_record(NULL::${table}, $1)`,
        [JSON.stringify(row)],
      );
    }
    for (const { table_name: table, column_name: column } of (
      await client.query(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' AND (is_identity = 'YES' OR column_default LIKE 'nextval%')",
      )
    ).rows)
      await client.query(
        `SELECT setval(pg_get_serial_sequence('${table}', '${column}'), (SELECT coalesce(max(${column}), 1) FROM ${table}))`,
      );
  } finally {
    await client.end();
  }
  return mine;
}

async function on<T extends pg.QueryResultRow>(url: string, sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end();
  }
}
