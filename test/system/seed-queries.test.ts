// The tables of the first requirements, asked and written as those requirements do it, word for word.
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../src/conform/until.ts';
import type { AdmissionDocument } from '../../src/daemon/context-document.ts';
import { openStandIn, type StandIn } from './stand-in.ts';
import { openWorld, type World, waitMs } from './world.ts';

const tables = {
  active_spawns: `CREATE TABLE active_spawns (
  id SERIAL PRIMARY KEY,
  project VARCHAR(50) NOT NULL,
  task_id VARCHAR(100) NOT NULL,
  task_type VARCHAR(50),
  description TEXT,
  spawn_time TIMESTAMP DEFAULT NOW(),
  last_output_change TIMESTAMP,
  output_file TEXT,
  status VARCHAR(20) DEFAULT 'running',
  UNIQUE(project, task_id)
);`,
  ps_sessions: `CREATE TABLE ps_sessions (
  id SERIAL PRIMARY KEY,
  project VARCHAR(50) UNIQUE NOT NULL,
  session_type VARCHAR(10), -- 'cli' or 'sdk'
  session_id VARCHAR(100),   -- tmux session name
  started_at TIMESTAMP DEFAULT NOW(),
  last_activity TIMESTAMP DEFAULT NOW(),
  last_context_check TIMESTAMP,
  context_usage FLOAT,       -- 0.0 to 1.0
  estimated_tokens_used INT
);`,
  health_checks: `CREATE TABLE health_checks (
  id SERIAL PRIMARY KEY,
  project VARCHAR(50) NOT NULL,
  check_time TIMESTAMP DEFAULT NOW(),
  check_type VARCHAR(50), -- 'spawn', 'context', 'handoff', 'orphaned_work'
  status VARCHAR(20),     -- 'ok', 'warning', 'critical'
  details JSONB,
  action_taken TEXT
);`,
};
const projects = `
    SELECT DISTINCT project FROM active_spawns WHERE status = 'running'
    UNION
    SELECT project FROM ps_sessions WHERE last_activity > NOW() - INTERVAL '1 hour'
  `;
const warnings = "SELECT * FROM health_checks WHERE status = 'warning'";
const update = `UPDATE ps_sessions
     SET context_usage = $1, estimated_tokens_used = $2, last_context_check = NOW()
     WHERE project = $3`;

let world: World;
let agent: StandIn;

beforeAll(async () => {
  world = await openWorld();
  const config = path.join(world.dir, 'config.yaml');
  // Prompted, but not managed: a handoff would begin at 85 percent.
  const agents = [
    { match: 'shop-ps', authority: 'nudge' },
    { match: 'docs-ps', authority: 'manage' },
  ];
  writeFileSync(config, JSON.stringify({ tickSeconds: 0.3, agents, waiting: { notifyMinutes: 0.01 } }));
  world.env = { WATCHKEEPER_CONFIG: config };
  agent = await openStandIn(world, 'shop-ps');
  await openStandIn(world, 'docs-ps');
  await world.up();
  await world.agentIs('shop-ps', 'idle');
  await world.agentIs('docs-ps', 'idle');
  await until('their rows', async () => (await world.query('SELECT 1 FROM ps_sessions')).length === 2, waitMs);
});
afterAll(() => world.end());

interface Session extends pg.QueryResultRow {
  context_usage: number | null;
  estimated_tokens_used: number | null;
  last_context_check: Date | null;
  ended_at: Date | null;
}

async function session(project: string): Promise<Session | undefined> {
  return (await world.query<Session>('SELECT * FROM ps_sessions WHERE project = $1', [project]))[0];
}

const contextIs = (percent: number, source: string) =>
  world.agentIs('shop-ps', ({ context }) => context?.source === source && Math.abs(context.percent - percent) < 0.001);

describe('the first requirements', () => {
  it.each(Object.entries(tables))('%s has every column that they name, by name and order', async (name, create) => {
    const columns = (schema: string) =>
      world.query<{ column_name: string }>(
        'SELECT column_name FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2 ORDER BY ordinal_position',
        [schema, name],
      );
    const named = [...create.matchAll(/^ {2}([a-z_]+) /gm)].map(([, column]) => column);
    const ours = (await columns('public')).map(({ column_name }) => column_name);
    expect(ours.slice(0, named.length)).toEqual(named);
  });

  it('find their projects and their warnings', async () => {
    await world.query(
      "INSERT INTO active_spawns (project, task_id, output_file, status) VALUES ('odin', 'epic-1', '/tmp/x', 'running')",
    );
    expect((await world.query<{ project: string }>(projects)).map(({ project }) => project).sort()).toEqual([
      ...['docs', 'odin', 'shop'],
    ]);
    await world.query("UPDATE active_spawns SET status = 'finished' WHERE project = 'odin'");
    await world.query(
      `INSERT INTO health_checks (project, check_type, status, details) VALUES ('odin', 'context', 'warning', '{"usage": 0.72}')`,
    );
    expect(await world.query(warnings)).toMatchObject([
      { project: 'odin', details: { usage: 0.72 }, action_taken: null },
    ]);
  });
});

describe('what is written into ps_sessions', () => {
  it('counts where nothing better tells: seen at once, known within a tick, and decided by', async () => {
    expect(await session('shop')).toMatchObject({ context_usage: null, last_context_check: null });
    await world.query(update, [31.6 / 100, 63_153, 'shop']);
    expect(await session('shop')).toMatchObject({ context_usage: 0.316, estimated_tokens_used: 63_153 });
    const { context } = await world.agentIs('shop-ps', (seen) => seen.context !== null);
    expect(context).toMatchObject({ source: 'ps_sessions', used: 63_153, percent: expect.closeTo(31.6, 2) });
    // Of the other one nobody has said anything.
    expect((await world.agent('docs-ps'))?.context).toBeNull();
    await world.query(update, [0.9, null, 'shop']);
    await contextIs(90, 'ps_sessions');
    const said = await world.run('can-accept', 'shop-ps', '--size', 'tiny', '--json');
    expect([said.code, (JSON.parse(said.stdout) as AdmissionDocument).band]).toEqual([1, '(85,100]']);
    await until(
      'a person is told',
      async () => (await world.query("SELECT 1 FROM incidents WHERE check_name = 'context-full'")).length === 1,
      waitMs,
    );
  });

  it('begins no handoff by itself: a person is told', async () => {
    await world.query(update, [0.95, 190_000, 'docs']);
    const told = `SELECT 1 FROM incidents i JOIN agents a ON a.id = i.agent_id
      WHERE a.name = 'docs-ps' AND check_name = 'context-full' AND tells > 0`;
    await until('told', async () => (await world.query(told)).length === 1, waitMs);
    expect(await world.query('SELECT 1 FROM handoffs')).toEqual([]);
    await world.query(update, [null, null, 'docs']);
    await world.agentIs('docs-ps', ({ context }) => context === null);
  });

  it('stays over a restart, and is gone when it is taken back', async () => {
    await world.down();
    await world.up();
    await contextIs(90, 'ps_sessions');
    await world.query(update, [null, null, 'shop']);
    await world.agentIs('shop-ps', ({ context }) => context === null);
    expect(await session('shop')).toMatchObject({ context_usage: null });
  });

  it.each([
    [1.01, 5, 'context_usage is from 0.0 to 1.0'],
    [-0.01, 5, 'context_usage is from 0.0 to 1.0'],
    [Number.NaN, 5, 'context_usage is from 0.0 to 1.0'],
    [Number.POSITIVE_INFINITY, 5, 'context_usage is from 0.0 to 1.0'],
    [0.5, -1, 'violates check constraint'],
  ])('%s of %s tokens is refused', async (usage, tokens, why) => {
    await expect(world.query(update, [usage, tokens, 'shop'])).rejects.toThrow(why);
    expect(await session('shop')).toMatchObject({ context_usage: null });
  });

  it('nothing else of it can be written', async () => {
    await expect(world.query("UPDATE ps_sessions SET session_id = 'x' WHERE project = 'shop'")).rejects.toThrow(
      'of ps_sessions only context_usage, estimated_tokens_used, last_context_check can be written',
    );
  });

  it('a row that was never written that way is left out and counted', async () => {
    const before = await world.counter('stored.context_reports');
    const client = 'SELECT id FROM agents WHERE name = $1';
    await world.query(
      `INSERT INTO context_reports (agent_id, session_id, usage, at) VALUES ((${client}), $2, 0.9, now())`,
      ['docs-ps', '../../etc/passwd'],
    );
    await world.counterGrows('stored.context_reports', before);
    expect((await world.agent('docs-ps'))?.context).toBeNull();
  });

  it('counts for that session only, and never against a better source', async () => {
    await world.query(update, [0.6, 120_000, 'shop']);
    await contextIs(60, 'ps_sessions');
    agent.sessionId = randomUUID();
    agent.register({});
    await world.agentIs('shop-ps', ({ context, session_id }) => context === null && session_id === agent.sessionId);
    await world.query(update, [0.6, 120_000, 'shop']);
    await contextIs(60, 'ps_sessions');
    agent.turn(100_000);
    await contextIs(10, 'transcript');
    await until('on record', async () => (await session('shop'))?.context_usage === 0.1, waitMs);
    await world.query(update, [0.99, 198_000, 'shop']);
    expect(await session('shop')).toMatchObject({ context_usage: 0.1, estimated_tokens_used: 100_000 });
    // Looked at again, for whatever reason.
    agent.turn(110_000);
    await contextIs(11, 'transcript');
  });
});

describe('ps_sessions', () => {
  it('tells whose agent has ended', async () => {
    expect((await session('docs'))?.ended_at).toBeNull();
    process.kill((await world.agent('docs-ps'))?.pid ?? 0, 'SIGKILL');
    await until('its end', async () => (await session('docs'))?.ended_at != null, waitMs);
    expect((await session('shop'))?.ended_at).toBeNull();
  });
});

describe('action_taken', () => {
  it('names what was done about the trouble of its row, with the id of the ledger', async () => {
    agent.register({ status: 'waiting', waitingFor: 'permission prompt' });
    const taken = async () =>
      (
        await world.query<{ id: string; action_taken: string | null }>(
          `SELECT a.id, h.action_taken FROM health_checks h JOIN actions a ON a.finding = h.details->>'finding'
           WHERE h.check_type = 'waiting-human' AND h.status = 'warning'`,
        )
      )[0];
    await until('told', async () => ((await taken())?.action_taken ?? null) !== null, waitMs);
    const first = await taken();
    expect(first?.action_taken).toBe(`told human: told, action ${first?.id}`);
    const [item] = (
      JSON.parse((await world.run('inbox', '--json')).stdout) as { items: { id: string; kind: string }[] }
    ).items.filter(({ kind }) => kind === 'waiting-human');
    expect((await world.run('ack', item?.id ?? '')).code).toBe(0);
    const [ack] = await world.query<{ id: string }>("SELECT id FROM actions WHERE kind = 'ack'");
    await until(
      'both',
      async () =>
        (await taken())?.action_taken === `${first?.action_taken}; acknowledged: confirmed, action ${ack?.id}`,
    );
  });
});
