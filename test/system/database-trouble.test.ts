// The database killed, hung, gone and back, the wrong one, a newer one: the daemon goes on, rows wait, and not one is
// lost or doubled.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isRunning, processesIn } from '../../src/conform/processes.ts';
import { until } from '../../src/conform/until.ts';
import { type EmbeddedServer, startEmbedded, stopEmbedded } from '../../src/record/embedded/server.ts';
import { migrate } from '../../src/record/migrate.ts';
import { cloneDatabase, type TestDatabase } from './database.ts';
import { discardHome, newHome } from './embedded-home.ts';
import { openStandIn, type StandIn } from './stand-in.ts';
import { answerMs, openWorld, testWorld, type World } from './world.ts';

/** The ids of the rows made of the agent's transcript, by the events table. */
async function rowsOf(world: World, agent: StandIn): Promise<number> {
  const [row] = await world.query<{ rows: number; ids: number }>(
    "SELECT count(*)::int AS rows, count(DISTINCT id)::int AS ids FROM events WHERE session_id = $1 AND source = 'transcript' AND kind <> 'state'",
    [agent.sessionId],
  );
  expect(row?.rows).toBe(row?.ids);
  return row?.rows ?? 0;
}

/** Every record of a turn makes one row: prompt, reply, turn's end. */
function recordsOf(agent: StandIn): number {
  return readFileSync(agent.transcriptFile, 'utf8').split('\n').length - 1;
}

async function allIsStored(world: World, agent: StandIn, ms = 20_000): Promise<void> {
  const look = () => rowsOf(world, agent).catch(() => -1);
  await until(`${recordsOf(agent)} rows`, async () => (await look()) >= recordsOf(agent), ms);
  expect(await rowsOf(world, agent)).toBe(recordsOf(agent));
}

describe('the embedded database', () => {
  let world: World;
  let agent: StandIn;

  beforeAll(async () => {
    world = await openWorld();
    agent = await openStandIn(world, 'worker-ps');
    await world.up();
    agent.turn();
    await allIsStored(world, agent);
  });
  afterAll(() => world.end());

  function cluster(): string {
    return (JSON.parse(readFileSync(path.join(world.dataDir, 'pg.json'), 'utf8')) as { cluster: string }).cluster;
  }

  function postmaster(): number {
    return Number(readFileSync(path.join(cluster(), 'postmaster.pid'), 'utf8').split('\n')[0]);
  }

  function postmasters(): number[] {
    return processesIn(cluster()).filter((pid) => {
      const argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return argv.includes('-D') && argv.includes(cluster());
    });
  }

  /** A child of the server looks like the server itself for a moment. */
  async function oneDatabase(): Promise<void> {
    await until('one database', () => postmasters().length === 1);
    expect(postmasters()).toEqual([postmaster()]);
  }

  it('killed with -9 again and again is started again, and every row written meanwhile is there once', async () => {
    const recoveredMs: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      const killed = postmaster();
      process.kill(killed, 'SIGKILL');
      await until('it is gone', () => !isRunning(killed));
      const beganMs = performance.now();
      agent.turn(1_000 + round);
      // The state is known all the while, and told at once.
      const status = await world.run('status', '--json');
      expect(status.code).toBe(0);
      expect(status.ms).toBeLessThan(answerMs);
      await world.seen('worker-ps', (seen) => seen.context?.used === 1_000 + round, answerMs);
      await allIsStored(world, agent);
      recoveredMs.push(Math.round(performance.now() - beganMs));
    }
    console.log(`rows are there again after a kill -9 of the database: ${recoveredMs.join(', ')} ms`);
    await oneDatabase();
    expect((await world.doctor()).checks.get('database')).toMatchObject({ ok: true });
    expect(world.log()).toMatch(/the database is away[\s\S]*the database is back/);
  });

  it('killed while there is nothing to write is started again all the same', async () => {
    const killed = postmaster();
    process.kill(killed, 'SIGKILL');
    await until('it is gone', () => !isRunning(killed));
    await until('events answers again', async () => (await world.run('events')).code === 0);
    await oneDatabase();
  });

  it('with a backend killed in the middle of the rows loses and doubles none', async () => {
    for (let round = 0; round < 3; round += 1) {
      const pids = await world.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'watchkeeper'",
      );
      for (let turn = 0; turn < 100; turn += 1) agent.turn();
      for (const { pid } of pids) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
      await allIsStored(world, agent);
    }
    const doubled = await world.query(
      'SELECT FROM health_checks GROUP BY agent_id, check_time, check_type, status HAVING count(*) > 1',
    );
    expect(doubled).toEqual([]);
  });

  it('that hangs holds up rows and nothing else', async () => {
    const stopped = processesIn(cluster());
    for (const pid of stopped) process.kill(pid, 'SIGSTOP');
    try {
      agent.turn(3_000);
      agent.register({ status: 'busy' });
      await world.seen('worker-ps', (seen) => seen.state === 'working' && seen.context?.used === 3_000, answerMs);
      expect((await world.run('status')).ms).toBeLessThan(answerMs);
    } finally {
      for (const pid of stopped) process.kill(pid, 'SIGCONT');
    }
    agent.register({ status: 'idle' });
    await allIsStored(world, agent);
  });

  it('killed together with the daemon: the next start has one database, and the rows of the meantime', async () => {
    const victims = [world.daemonPid(), postmaster()];
    for (const pid of victims) process.kill(pid, 'SIGKILL');
    agent.turn(4_000);
    await world.up();
    await world.agentIs('worker-ps', (seen) => seen.context?.used === 4_000);
    await allIsStored(world, agent);
    await oneDatabase();
    const agents = await world.query('SELECT name FROM agents');
    expect(agents).toEqual([{ name: 'worker-ps' }]);
    const sessions = await world.query('SELECT session_id, ended_at FROM sessions');
    expect(sessions).toEqual([{ session_id: agent.sessionId, ended_at: null }]);
  });

  it('stopped by hand while rows wait to be stored, `down` leaves nothing behind', async () => {
    process.kill(postmaster(), 'SIGKILL');
    const down = await world.run('down');
    expect(down.code).toBe(0);
    await until('no process of the database', () => processesIn(cluster()).length === 0);
  });
});

describe('a database of one’s own', () => {
  let home: string;
  let server: EmbeddedServer;

  beforeAll(async () => {
    home = newHome();
    server = await startedAt(home);
  });
  afterAll(() => discardHome(home));

  async function startedAt(folder: string): Promise<EmbeddedServer> {
    const started = await startEmbedded(folder);
    if (!started.ok) throw new Error(started.message);
    return started.value;
  }

  it('goes away and comes back: the daemon goes on, and every row of the meantime is there once', async () => {
    const world = await testWorld();
    world.env = { DATABASE_URL: server.adminUrl };
    const agent = await openStandIn(world, 'remote');
    await world.up();
    agent.turn();
    await allIsStored(world, agent);

    await stopEmbedded(home);
    agent.turn(2_000);
    await world.agentIs('remote', (seen) => seen.context?.used === 2_000);
    const wrong = await until('doctor says so', async () => {
      const { checks } = await world.doctor();
      return checks.get('database')?.ok === false ? checks.get('database') : null;
    });
    expect(wrong.detail).toMatch(/does not answer/);
    const events = await world.run('events', '--json');
    expect(events).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/^watchkeeper: the database does not answer.*\n$/),
    });
    expect(JSON.parse(events.stdout)).toMatchObject({ v: 1, error: { code: 'no-database' } });

    const beganMs = performance.now();
    await startedAt(home);
    await allIsStored(world, agent);
    console.log(`rows are there ${Math.round(performance.now() - beganMs)} ms after the server's return`);
    await until('the daemon says so', () => world.log().includes('the database is back'));
    await world.down();
  });

  it('that cannot be reached is exit 5 with one line, and nothing runs afterwards', async () => {
    const world = await testWorld();
    const urls = [
      'nonsense',
      'postgresql://user:geheimes@127.0.0.1:1/db',
      'postgresql://user:geheimes@no-such-host.invalid/db',
      // Two addresses, so two failures in one.
      'postgresql://user:geheimes@localhost:1/db',
      'postgresql://user@/db?host=/nonexistent',
      server.adminUrl.replace('@/watchkeeper?', '@/no_such_database?'),
    ];
    for (const url of urls) {
      world.env = { DATABASE_URL: url };
      const up = await world.run('up', '--detach');
      expect(up.code, url).toBe(5);
      expect(up.stdout).toBe('');
      expect(up.stderr).toMatch(/^watchkeeper: cannot connect to the database \([^)]+.*DATABASE_URL.*\n$/);
      expect(up.stderr).not.toContain('geheimes');
      expect(await world.run('events'), url).toMatchObject({ code: 5, stdout: '' });
    }
    expect((await world.run('db', 'export')).code).toBe(5);
    expect((await world.run('status')).code).toBe(3);
    expect((await world.run('doctor')).code).toBe(1);
  });

  it('with a newer schema is refused with one line', async () => {
    const world = await testWorld();
    const database = await emptyDatabase();
    expect(await migrate(database.adminUrl)).toMatchObject({ ok: true });
    await onDatabase(database.adminUrl, "INSERT INTO schema_migrations (version, name) VALUES (9999, 'future')");
    world.env = { DATABASE_URL: database.adminUrl };
    const up = await world.run('up', '--detach');
    expect(up.code).toBe(5);
    expect(up.stderr).toMatch(/^watchkeeper: the database has schema 9999, this version knows up to \d+: .*\n$/);
    expect((await world.run('status')).code).toBe(3);
  });

  it('that does not say what was being handed over is exit 5 with one line; nobody starts without knowing it', async () => {
    const world = await testWorld();
    const database = await emptyDatabase();
    expect(await migrate(database.adminUrl)).toMatchObject({ ok: true });
    await onDatabase(database.adminUrl, 'ALTER TABLE handoffs RENAME TO handoffs_away');
    world.env = { DATABASE_URL: database.adminUrl };
    const up = await world.run('up', '--detach');
    expect(up).toMatchObject({ code: 5, stdout: '' });
    expect(up.stderr).toBe('watchkeeper: what the last run left open cannot be read from the database\n');
    expect((await world.run('status')).code).toBe(3);
    await onDatabase(database.adminUrl, 'ALTER TABLE handoffs_away RENAME TO handoffs');
    await world.up();
  });

  it('that is empty is set up once, however many do it at the same moment', async () => {
    const { adminUrl } = await emptyDatabase();
    const answers = await Promise.all(Array.from({ length: 12 }, () => migrate(adminUrl)));
    expect(new Set(answers.map((answer) => (answer.ok ? 'ok' : answer.message)))).toEqual(new Set(['ok']));

    const database = await emptyDatabase();
    const worlds = [await testWorld(), await testWorld(), await testWorld()];
    for (const world of worlds) world.env = { DATABASE_URL: database.adminUrl };
    const ups = await Promise.all(worlds.map((world) => world.run('up', '--detach')));
    expect(ups.map((up) => up.code)).toEqual([0, 0, 0]);
    const versions = await onDatabase(database.adminUrl, 'SELECT version FROM schema_migrations ORDER BY version');
    expect(versions.map((row) => row.version)).toEqual(versions.map((_, index) => index + 1));
    for (const world of worlds) await world.down();
  });
});

describe('what is on record', () => {
  let world: World;

  beforeAll(async () => {
    world = await openWorld();
    await world.up();
  });
  afterAll(() => world.end());

  it('older than retentionDays goes, younger stays, and the ledger and whom it speaks of stay', async () => {
    await world.query(
      `INSERT INTO agents (host, name, project, client, authority, boot_id, pid, start_ticks, started_at, state, state_since, source, confidence, last_seen)
       SELECT host, name, 'p', 'claude-code', 'observe', 'b', 1, '1', at, 'ended', at, 'process', 1, at
       FROM (SELECT id AS host FROM hosts) h, (VALUES ('old', now() - interval '31 days'), ('old-with-action', now() - interval '31 days'), ('young', now() - interval '29 days')) v (name, at)`,
    );
    await world.query(
      `INSERT INTO events (id, at, agent_id, source, kind) SELECT gen_random_uuid(), at, a.id, 'process', kind
       FROM agents a, (VALUES ('old', now() - interval '31 days'), ('young', now() - interval '29 days')) v (kind, at) WHERE a.name = 'young'`,
    );
    await world.query(
      `INSERT INTO health_checks (project, check_time, check_type, status) VALUES ('p', now() - interval '31 days', 'old', 'ok'), ('p', now(), 'young', 'ok')`,
    );
    await world.query(
      `INSERT INTO sessions (agent_id, session_id, started_at, ended_at) SELECT id, v.s, v.at, v.at
       FROM agents, (VALUES ('old', now() - interval '31 days'), ('young', now() - interval '1 day')) v (s, at) WHERE name = 'young'`,
    );
    await world.query(
      `INSERT INTO actions (id, agent_id, kind, trigger, intent, at) SELECT gen_random_uuid(), id, 'prompt', 'human', '{}', now() - interval '300 days'
       FROM agents WHERE name = 'old-with-action'`,
    );
    await world.query(`INSERT INTO action_outcomes (action_id, outcome) SELECT id, 'confirmed' FROM actions`);
    await world.down();
    await world.up();
    const names = async (sql: string) => (await world.query<{ name: string }>(sql)).map((row) => row.name);
    await until('the old event is gone', async () => (await names('SELECT kind AS name FROM events')).length === 1);
    expect(await names('SELECT kind AS name FROM events')).toEqual(['young']);
    expect(await names('SELECT check_type AS name FROM health_checks')).toEqual(['young']);
    expect(await names('SELECT session_id AS name FROM sessions')).toEqual(['young']);
    expect(await names('SELECT name FROM agents ORDER BY name')).toEqual(['old-with-action', 'young']);
    expect(await names('SELECT kind AS name FROM actions ORDER BY at')).toEqual(['prompt', 'stop']);
    expect(await names('SELECT outcome AS name FROM action_outcomes')).toEqual(['confirmed', 'confirmed']);
  });

  it.each([
    ['watchkeeper', /permission denied/],
    ['wk_admin', /the ledger only grows/],
  ])('the ledger only grows, also for %s', async (role, refusal) => {
    const url = (await world.run('db', 'url')).stdout.trim().replace('watchkeeper@', `${role}@`);
    const attempts = [
      "UPDATE actions SET kind = 'other'",
      'DELETE FROM actions',
      'TRUNCATE actions CASCADE',
      'TRUNCATE agents CASCADE',
      "UPDATE action_outcomes SET outcome = 'other'",
      'DELETE FROM action_outcomes',
      'TRUNCATE action_outcomes',
    ];
    for (const sql of attempts) {
      await expect(onDatabase(url, sql), sql).rejects.toThrow(refusal);
    }
    const [count] = await onDatabase(
      url,
      'SELECT count(*)::int AS n FROM action_outcomes JOIN actions a ON a.id = action_id',
    );
    expect(count).toEqual({ n: 2 });
    // Nor does it lose whom it speaks of.
    await expect(onDatabase(url, "DELETE FROM agents WHERE name = 'old-with-action'")).rejects.toThrow(/foreign key/);
    // To add is allowed.
    await onDatabase(url, "INSERT INTO action_outcomes (action_id, outcome) SELECT id, 'late' FROM actions");
    await onDatabase(
      url.replace(`${role}@`, 'wk_admin@'),
      "SET session_replication_role = replica; DELETE FROM action_outcomes WHERE outcome = 'late'",
    );
  });
});

/** One of its own on the run's server, without a table in it. */
async function emptyDatabase(): Promise<TestDatabase> {
  const database = await cloneDatabase(async () => {}, 'wk_test_empty');
  onTestFinished(() => database.drop());
  return database;
}

async function onDatabase(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows ?? [];
  } finally {
    await client.end();
  }
}
