// A ledger of years: every question to it is answered by an index, however many rows there are.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answeredPrompts, deedsAbout, lastRulePrompts } from '../../src/record/deeds.ts';
import { beginHandoff, handoffActions } from '../../src/record/handoffs.ts';
import { conclude, intend, openActions, readLedger } from '../../src/record/ledger.ts';
import { migrate } from '../../src/record/migrate.ts';
import { expire } from '../../src/record/retention.ts';
import { leftOut } from '../../src/record/rows.ts';
import { cloneDatabase, type TestDatabase } from './database.ts';

const handoff = randomUUID();
let database: TestDatabase;
let client: pg.Client;
/** Tables that a query of the last question read from one end to the other. */
let scanned: string[] = [];

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  Plans?: Plan[];
}

beforeAll(async () => {
  database = await cloneDatabase(async (url) => void (await migrate(url)), 'wk_test_migrated');
  client = new pg.Client({ connectionString: database.adminUrl });
  await client.connect();
  await client.query("INSERT INTO hosts (id, name) VALUES ('h', 'h')");
  await client.query(
    `INSERT INTO agents (host, name, project, client, authority, boot_id, pid, start_ticks, started_at, state, state_since, source, confidence, last_seen)
     SELECT CASE WHEN n <= 20 THEN 'h' ELSE 'other' END, 'a' || n, 'p', 'claude-code', 'manage', 'b', n, '1', now(), 'ended', now(), 'process', 1, now() - interval '400 days'
     FROM generate_series(1, 200) n`,
  );
  await client.query(
    `WITH added AS (
       INSERT INTO actions (id, at, agent_id, kind, trigger, intent, finding, host)
       SELECT gen_random_uuid(), now() - make_interval(mins => n * 20), CASE WHEN n % 50 <> 0 THEN 1 + n % 200 END,
         (ARRAY['prompt', 'notify', 'command'])[1 + n % 3], 'human',
         CASE WHEN n % 100 = 1 THEN jsonb_build_object('handoff', gen_random_uuid()) ELSE '{}' END, gen_random_uuid()::text, 'h'
       FROM generate_series(1, 40000) n RETURNING id)
     INSERT INTO action_outcomes (action_id, outcome) SELECT id, 'answered' FROM added`,
  );
  await client.query(
    `INSERT INTO incidents (id, check_name, severity, text, opened_at, closed_at, host)
     SELECT gen_random_uuid(), 'x', 'warning', 't', now(), now(), 'h' FROM generate_series(1, 20000) n`,
  );
  await client.query(
    `INSERT INTO handoffs (id, agent_id, project, trigger, recipe, nonce, file, cwd, old_session, requested_at, step)
     SELECT gen_random_uuid(), 1 + n % 200, 'p', 'human', 'document', 'n', '/f', '/', 's', now(), 'failed' FROM generate_series(1, 5000) n`,
  );
  await client.query(
    `INSERT INTO health_checks (project, check_type, status, details, agent_id)
     SELECT 'p', 'x', 'warning', jsonb_build_object('finding', gen_random_uuid()), 1 + n % 200 FROM generate_series(1, 20000) n`,
  );
  await client.query('ANALYZE');
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

/** The connection, but every query is first asked for its plan. */
function watched(): pg.ClientBase {
  const query = async (sql: string, values?: unknown[]) => {
    const explained = await client.query(`EXPLAIN (FORMAT JSON) ${sql}`, values);
    note(explained.rows[0]['QUERY PLAN'][0].Plan);
    return client.query(sql, values);
  };
  return { query } as unknown as pg.ClientBase;
}

function note(plan: Plan): void {
  if (plan['Node Type'] === 'Seq Scan') scanned.push(plan['Relation Name'] ?? '?');
  for (const below of plan.Plans ?? []) note(below);
}

const of = (filter: { agent?: string; kind?: string }) => (on: pg.ClientBase) =>
  readLedger(on, 'h', { agent: null, kind: null, limit: 20, ...filter });
const action = {
  id: randomUUID(),
  atMs: Date.now(),
  agent: 'a5',
  kind: 'prompt',
  trigger: 'human',
  intent: {},
} as const;

it.each<[string, (on: pg.ClientBase) => Promise<unknown>]>([
  ['the newest entries', of({})],
  ['those of one agent', of({ agent: 'a5' })],
  ['those of one kind', of({ kind: 'command' })],
  ['those of a kind that there is none of', of({ kind: 'none' })],
  ['those of one kind of one agent', of({ agent: 'a5', kind: 'command' })],
  ['what an earlier run left open', (on) => openActions(on, 'h', leftOut)],
  ['what was done for a handoff', (on) => handoffActions(on, handoff, leftOut)],
  ['what was done about troubles', (on) => deedsAbout(on, [randomUUID(), randomUUID()])],
  ['when rules last spoke', (on) => lastRulePrompts(on, 'h', Date.now() - 300_000)],
  ['how many prompts were answered', (on) => answeredPrompts(on, 'h', Date.now(), 30_000)],
  ['an intent', (on) => intend(on, { ...action, host: 'h', finding: null })],
  ['its outcome', (on) => conclude(on, { actionId: action.id, atMs: 0, outcome: 'x', reason: null, proof: null })],
  ['agents that nobody speaks of', (on) => expire(on, 'h', 'agents', Date.now(), 10)],
  [
    'a handoff that begins',
    (on) =>
      beginHandoff(on, {
        ...{
          id: handoff,
          host: 'h',
          agent: 'a5',
          project: 'p',
          trigger: 'human',
          by: null,
          recipe: 'document',
          nonce: 'n',
          file: '/f',
        },
        ...{ cwd: '/', oldSession: 's', newSession: null, requestedMs: 0, sha256: null, sentBack: 0, acked: false },
        steps: [],
      }),
  ],
])('%s: no table that grows is read from end to end', async (_name, question) => {
  scanned = [];
  await question(watched());
  expect(scanned.filter((table) => table !== 'agents' && table !== 'hosts')).toEqual([]);
});

it('what is a year old is found by index as well', async () => {
  // Its statements are inside the function: what the server counted tells.
  const scans = async () => {
    await client.query('SELECT pg_stat_force_next_flush()');
    const counted = await client.query(
      "SELECT sum(seq_scan)::int AS n FROM pg_stat_user_tables WHERE relname IN ('actions', 'action_outcomes')",
    );
    return counted.rows[0].n;
  };
  await client.query("SELECT expire_ledger('h', now(), 10)");
  const before = await scans();
  const gone = await client.query("SELECT expire_ledger('h', now(), 10) AS n");
  expect(gone.rows).toEqual([{ n: 10 }]);
  expect(await scans()).toBe(before);
});

it('one handoff of an agent is open at a time', async () => {
  const again = client.query(
    `INSERT INTO handoffs (id, agent_id, project, trigger, recipe, nonce, file, cwd, old_session, requested_at, step)
     SELECT gen_random_uuid(), agent_id, 'p', 'human', 'document', 'n', '/f', '/', 's', now(), 'requested' FROM handoffs WHERE step = 'requested'`,
  );
  await expect(again).rejects.toThrow(/handoffs_one_open/);
});
