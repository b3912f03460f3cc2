// `node bench/ledger.mjs [--rows N] [--dir DIR] [--write]`: every question to a ledger of so many rows. With --dir the filled
// database stays there, and a further run goes on where that one was ended; --write keeps the table in docs/reports/ledger.md.
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import pg from 'pg';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const from = (file) => import(pathToFileURL(path.join(root, 'dist', file)).href);
const { startEmbedded, stopEmbedded } = await from('record/embedded/server.js');
const { migrate } = await from('record/migrate.js');
const { openStore } = await from('record/store.js');
const { queryLedger } = await from('record/queries.js');

const given = (name) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : null);
const rows = Number(given('--rows') ?? 20_000_000);
const kept = given('--dir');
const sliceRows = 1_000_000;
const agents = 1_000;
const timesEach = 5;

const say = (line) => process.stderr.write(`ledger: ${line}\n`);

async function main() {
  const home = kept ?? mkdtempSync(path.join(os.tmpdir(), 'wk-ledger-'));
  if (kept !== null) mkdirSync(kept, { recursive: true });
  const started = await startEmbedded(home);
  if (!started.ok) throw new Error(started.message);
  try {
    const migrated = await migrate(started.value.adminUrl);
    if (!migrated.ok) throw new Error(migrated.message);
    await fill(started.value.adminUrl, home);
    const table = await measure(started.value.url, started.value.adminUrl);
    process.stdout.write(table);
    if (process.argv.includes('--write')) writeFileSync(path.join(root, 'docs/reports/ledger.md'), table);
  } finally {
    await stopEmbedded(home);
    if (kept === null) rmSync(home, { recursive: true, force: true });
  }
}

async function connected(url, work) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** In slices, without indexes until all is there; each piece is done or not. */
async function fill(url, home) {
  const done = path.join(home, 'filled');
  if (existsSync(done)) return;
  await connected(url, async (client) => {
    await client.query("SET session_replication_role = replica; SET maintenance_work_mem = '512MB'");
    const definitions = path.join(home, 'indexes.json');
    if (!existsSync(definitions)) {
      await client.query('ALTER TABLE action_outcomes SET UNLOGGED; ALTER TABLE actions SET UNLOGGED');
      const found = await client.query(
        `SELECT indexname AS name, indexdef AS sql FROM pg_indexes WHERE tablename IN ('actions', 'action_outcomes') AND indexname NOT LIKE '%_pkey'`,
      );
      for (const { name } of found.rows) await client.query(`DROP INDEX ${name}`);
      await client.query(
        `INSERT INTO agents (host, name, project, client, authority, boot_id, pid, start_ticks, started_at, state, state_since, source, confidence, last_seen)
         SELECT 'h', 'agent-' || n, 'p', 'claude-code', 'manage', 'b', n, '1', now(), 'idle', now(), 'process', 1, now() FROM generate_series(1, $1::int) n`,
        [agents],
      );
      writeFileSync(definitions, JSON.stringify(found.rows));
    }
    const { rows: counted } = await client.query('SELECT count(*)::int AS n FROM actions');
    for (let at = counted[0].n; at < rows; at += sliceRows) {
      await client.query(
        `WITH added AS (
           INSERT INTO actions (id, at, agent_id, kind, trigger, intent, finding, host)
           SELECT gen_random_uuid(), now() - make_interval(secs => ($1::bigint - n) * 3), CASE WHEN n % 50 = 0 THEN NULL ELSE 1 + n % ${agents} END,
             (ARRAY['prompt', 'prompt', 'prompt', 'notify', 'notify', 'command', 'interrupt'])[1 + n % 7], 'human',
             CASE WHEN n % 100 = 1 THEN jsonb_build_object('handoff', md5((n / 500)::text)::uuid, 'deed', 'ask', 'after', '1')
               ELSE jsonb_build_object('text', 'Please continue from where you left off.', 'tag', 'wk-' || (n % 65536)) END,
             CASE WHEN n % 20 = 0 THEN gen_random_uuid()::text END, 'h'
           FROM generate_series($2::bigint + 1, least($2::bigint + ${sliceRows}, $1::bigint)) n RETURNING id, at)
         INSERT INTO action_outcomes (action_id, at, outcome) SELECT id, at, 'answered' FROM added`,
        [rows, at],
      );
      say(`${Math.min(at + sliceRows, rows)} rows`);
    }
    const { readFileSync } = await import('node:fs');
    for (const { name, sql } of JSON.parse(readFileSync(definitions, 'utf8'))) {
      await client.query(sql.replace('INDEX', 'INDEX IF NOT EXISTS'));
      say(`index ${name}`);
    }
    await client.query('ANALYZE actions; ANALYZE action_outcomes; ANALYZE agents');
    writeFileSync(done, '');
  });
}

async function measure(url, adminUrl) {
  const store = openStore(url);
  const size = await connected(adminUrl, async (client) => {
    const handoff = await client.query("SELECT intent->>'handoff' AS id FROM actions WHERE intent ? 'handoff' LIMIT 1");
    const { rows: found } = await client.query(
      `SELECT count(*)::bigint AS rows, pg_total_relation_size('actions') AS actions, pg_table_size('actions') AS bare, pg_total_relation_size('action_outcomes') AS outcomes FROM actions`,
    );
    await client.query("INSERT INTO hosts (id, name) VALUES ('h', 'h') ON CONFLICT DO NOTHING");
    return { ...found[0], handoff: handoff.rows[0].id };
  });
  const ask = (filter) => queryLedger(url, 'h', { agent: null, kind: null, limit: 100, ...filter });
  const action = () => ({
    id: randomUUID(),
    atMs: Date.now(),
    host: 'h',
    agent: 'agent-7',
    kind: 'prompt',
    trigger: 'human',
    intent: {},
    finding: null,
  });
  const questions = {
    'an intent and its outcome are written': async () => {
      const one = action();
      await store.intend(one);
      return store.conclude({ actionId: one.id, atMs: Date.now(), outcome: 'confirmed', reason: null, proof: null });
    },
    'what an earlier run left open, of 1,000 agents': () => store.openActions('h'),
    'what was done for one handoff': () => store.handoffActions(size.handoff),
    '`audit`: the newest 100': () => ask({}),
    '`audit` of one agent': () => ask({ agent: 'agent-7' }),
    '`audit` of one kind': () => ask({ kind: 'interrupt' }),
    '`audit` of a kind that is not there': () => ask({ kind: 'none' }),
    '`audit` of one agent and kind': () => ask({ agent: 'agent-7', kind: 'interrupt' }),
    'whether an agent stands in it, for one that ended': () => store.expire('h', 'agents', Date.now(), 100),
    '2,000 rows that are too old go': () => store.expire('h', 'ledger', Date.now(), 2_000),
  };
  const lines = [];
  for (const [name, question] of Object.entries(questions)) {
    const times = [];
    for (let n = 0; n < timesEach; n += 1) {
      const beganMs = performance.now();
      const answer = await question();
      times.push(performance.now() - beganMs);
      if (!answer.ok) throw new Error(`${name}: ${answer.message}`);
    }
    times.sort((a, b) => a - b);
    lines.push(`| ${name} | ${times[Math.floor(timesEach / 2)].toFixed(1)} | ${times[timesEach - 1].toFixed(1)} |`);
    say(lines.at(-1));
  }
  await store.close();
  const gb = (bytes) => (Number(bytes) / 1e9).toFixed(1);
  return [
    '# A large ledger',
    '',
    'Written by `node bench/ledger.mjs --write`.',
    '',
    `${Number(size.rows).toLocaleString('en')} actions of ${agents.toLocaleString('en')} agents and as many outcomes, on the embedded server with its own settings. The actions take ${gb(size.bare)} GB,`,
    `${gb(size.actions)} GB with their indexes; the outcomes ${gb(size.outcomes)} GB with theirs. Milliseconds of ${timesEach} calls as the program makes them, connection included where it makes one.`,
    '',
    '| question | median | slowest |',
    '|---|---|---|',
    ...lines,
    '',
    `Measured on ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}.`,
    '',
  ].join('\n');
}

await main();
