// Rows wait in the journal and go into the store as a whole: again after a lost answer without doubling, and without
// the one that the server will never take.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentView } from '../../src/model/agent.ts';
import { Counters } from '../../src/model/counters.ts';
import type { WatchEvent } from '../../src/model/event.ts';
import type { Incident } from '../../src/model/incident.ts';
import { fail } from '../../src/model/result.ts';
import type { Store, StoreBatch } from '../../src/model/store.ts';
import type { Told } from '../../src/model/telling.ts';
import { migrate } from '../../src/record/migrate.ts';
import { ownProcess, readProcess } from '../../src/record/own-process.ts';
import { openStore } from '../../src/record/store.ts';
import { Journal } from '../../src/rows/journal.ts';
import { cloneDatabase, type TestDatabase } from './database.ts';

let database: TestDatabase;
let store: Store;

beforeAll(async () => {
  database = await cloneDatabase(async (url) => void (await migrate(url)), 'wk_test_migrated');
  store = openStore(database.adminUrl);
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

function view(agent: string): AgentView {
  const nowMs = Date.now();
  return {
    agent,
    project: 'p',
    client: 'claude-code',
    clientVersion: null,
    host: 'here',
    authority: 'observe',
    cwd: null,
    tmux: null,
    process: { bootId: 'b', pid: 1, startTicks: '1' },
    sessionId: null,
    transcript: null,
    startedAtMs: nowMs,
    reading: {
      state: 'idle',
      detail: null,
      sinceMs: nowMs,
      source: 'registry',
      confidence: 1,
      seenAtMs: nowMs,
      tool: null,
    },
    model: null,
    context: null,
    costUsd: null,
    lastActivityMs: null,
    lastTurn: null,
    lastTurnAtMs: null,
    turnIsOpen: false,
    error: null,
    background: [],
    findings: [],
  } as unknown as AgentView;
}

function event(agent: string, atMs = Date.now()): WatchEvent {
  return { id: randomUUID(), atMs, agent, sessionId: null, source: 'process', kind: 'test', data: {} };
}

function batchOf(agent: string, events: WatchEvent[]): StoreBatch {
  const check = { agent, project: 'p', atMs: Date.now(), type: 'summary', status: 'ok' as const, details: {} };
  return { agents: [view(agent)], sessions: [], events, spawns: [], points: [], checks: [check] };
}

async function stored(agent: string): Promise<{ events: number; checks: number }> {
  const client = new pg.Client({ connectionString: database.adminUrl });
  await client.connect();
  const { rows } = await client.query(
    `SELECT (SELECT count(*)::int FROM events WHERE agent_id = a.id) AS events,
            (SELECT count(*)::int FROM health_checks WHERE agent_id = a.id) AS checks FROM agents a WHERE name = $1`,
    [agent],
  );
  await client.end();
  return rows[0];
}

async function figures(agent: string): Promise<number> {
  const client = new pg.Client({ connectionString: database.adminUrl });
  await client.connect();
  const { rows } = await client.query(
    'SELECT count(*)::int AS count FROM context_points p JOIN agents a ON a.id = p.agent_id WHERE a.name = $1',
    [agent],
  );
  await client.end();
  return rows[0].count;
}

describe('what the tables themselves refuse', () => {
  async function asking<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: database.adminUrl });
    await client.connect();
    return work(client).finally(() => client.end());
  }

  it.each(['saved', 'cleared', 'resumed', 'confirmed', 'done'])(
    'a handoff at %s without its document',
    async (name) => {
      await store.write('here', batchOf('cleared-ps', []));
      await asking(async (client) => {
        const insert = (values: unknown[]) =>
          client.query(
            `INSERT INTO handoffs (id, agent_id, project, trigger, recipe, nonce, file, cwd, old_session, requested_at, step, document, sha256)
           SELECT gen_random_uuid(), id, 'p', 'human', 'document', 'n', '/f', '/', 'old', now(), $1, $2, $3 FROM agents WHERE name = 'cleared-ps'`,
            values,
          );
        await expect(insert([name, null, null])).rejects.toThrow(/check constraint/);
        expect((await insert([name, '# Handoff', 'sha'])).rowCount).toBe(1);
        await client.query('DELETE FROM handoffs');
        expect((await insert(['verified', null, null])).rowCount).toBe(1);
        await expect(client.query('UPDATE handoffs SET step = $1', [name])).rejects.toThrow(/check constraint/);
        await client.query('DELETE FROM handoffs');
      });
    },
  );
});

describe('a batch', () => {
  it('that is written twice, since the answer to the first was lost, is there once', async () => {
    const batch = batchOf('twice', [event('twice'), event('twice')]);
    // Written, but nobody is told.
    let lost = true;
    const deaf: Store = {
      ...store,
      async write(host, rows) {
        const written = await store.write(host, rows);
        if (!lost) return written;
        lost = false;
        return fail('unavailable', 'the connection broke at the commit');
      },
    };
    const journal = new Journal(deaf, 'here', new Counters());
    journal.add(batch);
    expect(await journal.flush()).toBe(false);
    expect(journal.pending).toBe(4);
    expect(await journal.flush()).toBe(true);
    expect(await stored('twice')).toEqual({ events: 2, checks: 1 });
  });

  it('with figures of a context has each once, however often it comes, until they are too old', async () => {
    const figure = { agent: 'points', sessionId: 's', atMs: Date.now(), used: 5, window: 10, usable: 9 };
    const more = { source: 'transcript' as const, turnAtMs: null, compacted: null, usedBefore: null };
    const old = { ...figure, ...more, atMs: figure.atMs - 86_400_000 };
    const batch = { ...batchOf('points', []), points: [old, { ...figure, ...more }] };
    for (let times = 0; times < 2; times += 1) expect((await store.write('here', batch)).ok).toBe(true);
    expect(await figures('points')).toBe(2);
    expect(await store.expire('here', 'points', figure.atMs - 1_000, 10)).toMatchObject({ ok: true, value: 1 });
    expect(await figures('points')).toBe(1);
  });

  it('of 5,000 events goes in whole', async () => {
    const journal = new Journal(store, 'here', new Counters());
    journal.add(
      batchOf(
        'big',
        Array.from({ length: 5_000 }, () => event('big')),
      ),
    );
    expect(await journal.flush()).toBe(true);
    expect(await stored('big')).toEqual({ events: 5_000, checks: 1 });
  });

  it.each([
    ['a time that is none', { atMs: Number.NaN }],
    ['a time beyond all calendars', { atMs: 8e15 }],
    ['half a character', { kind: 'x\ud800' }],
    ['U+0000', { kind: 'x\u0000' }],
  ])('with one row the server never takes (%s) loses that row, counts it, and stores all others', async (what, bad) => {
    const agent = `poisoned by ${what}`;
    const events = Array.from({ length: 50 }, () => event(agent));
    const poison = { ...event(agent), ...bad };
    const counters = new Counters();
    const journal = new Journal(store, 'here', counters);
    journal.add(batchOf(agent, [...events.slice(0, 20), poison, ...events.slice(20)]));
    journal.add(batchOf('bystander', [event('bystander')]));
    expect(await journal.flush()).toBe(true);
    expect(await stored(agent)).toEqual({ events: 50, checks: 1 });
    expect((await stored('bystander')).events).toBeGreaterThan(0);
    expect(counters.all()).toEqual({ 'store.refused': 1 });
  });
});

describe('what people were told while there was no database', () => {
  const incident = (agent: string | null): Incident => ({
    ...{ id: randomUUID(), host: 'here', agent, project: 'p', check: 'waiting-human', subject: null },
    ...{ severity: 'warning', text: 't' },
    ...{ openedMs: 1_000, closedMs: null, ackedMs: null, prompts: 0, lastPromptMs: null, tells: 1, lastTellMs: 2_000 },
  });
  const told = (about: Incident): Told => ({
    incident: about,
    tellings: [1_000, 2_000].map((atMs) => ({
      action: {
        ...{ id: randomUUID(), atMs, host: 'here', agent: about.agent, kind: 'notify' },
        ...{ trigger: 'rule:waiting-human', intent: { title: 'x' }, finding: about.id },
      },
      outcome: { atMs: atMs + 1, outcome: 'told', reason: null, proof: null },
    })),
  });
  const rows = async (incidentId: string) => {
    const client = new pg.Client({ connectionString: database.adminUrl });
    await client.connect();
    try {
      const { rows: found } = await client.query<{ id: string; outcomes: number }>(
        `SELECT a.id, count(o.id)::int AS outcomes FROM actions a LEFT JOIN action_outcomes o ON o.action_id = a.id
         WHERE a.finding = $1 GROUP BY a.id`,
        [incidentId],
      );
      const incidents = await client.query('SELECT tells, acked_at IS NOT NULL AS acked FROM incidents WHERE id = $1', [
        incidentId,
      ]);
      return {
        actions: found.map(({ id }) => id).toSorted(),
        outcomes: found.map(({ outcomes }) => outcomes),
        incidents: incidents.rows,
      };
    } finally {
      await client.end();
    }
  };

  it('is stored once under the ids it was told by, however often it comes, and forgets nothing newer', async () => {
    const about = incident(null);
    const all = told(about);
    for (let time = 0; time < 3; time += 1)
      expect(await store.storeTold(all, false)).toEqual({ ok: true, value: 'stored' });
    const ids = all.tellings.map(({ action }) => action.id).toSorted();
    expect(await rows(about.id)).toEqual({ actions: ids, outcomes: [1, 1], incidents: [{ tells: 1, acked: false }] });
    await store.saveIncident({ ...about, tells: 3, ackedMs: 9_000 });
    await store.storeTold(all, false);
    expect((await rows(about.id)).incidents).toEqual([{ tells: 3, acked: true }]);
  });

  it('waits for the row of its agent, and is stored without it where none will come', async () => {
    const about = incident('never-seen');
    const all = told(about);
    expect(await store.storeTold(all, false)).toEqual({ ok: true, value: 'no-agent' });
    expect((await rows(about.id)).actions).toEqual([]);
    expect(await store.storeTold(all, true)).toEqual({ ok: true, value: 'stored' });
    expect(await rows(about.id)).toMatchObject({ outcomes: [1, 1], incidents: [] });
  });
});

it('reads its own times whatever form the server writes times in', async () => {
  const german = openStore(
    `${database.adminUrl}&options=${encodeURIComponent('-c datestyle=German,DMY -c timezone=Asia/Tokyo')}`,
  );
  try {
    const about: Incident = {
      ...{ id: randomUUID(), host: 'dated', agent: null, project: 'p', check: 'database-away', subject: 'dates' },
      ...{
        severity: 'warning',
        text: 'x',
        openedMs: Date.now() - 60_000,
        closedMs: null,
        ackedMs: null,
        prompts: 0,
        lastPromptMs: null,
      },
      ...{ tells: 1, lastTellMs: Date.now() - 30_000 },
    };
    expect((await german.saveIncident(about)).ok).toBe(true);
    expect(await german.openIncidents('dated')).toEqual({ ok: true, value: [about] });
  } finally {
    await german.close();
  }
});

it('what a daemon that lives has begun on the same database is its own to settle; of a dead one it is ours', async () => {
  await store.write('here', { agents: [view('typed')], sessions: [], events: [], spawns: [], points: [], checks: [] });
  const begin = async (daemon: object | null) => {
    const id = randomUUID();
    const intent = { text: 'continue', tag: 'wk-1234' };
    const action = {
      id,
      atMs: Date.now(),
      ...{ host: 'here', agent: 'typed' },
      kind: 'prompt',
      trigger: 'human',
      intent,
      finding: null,
    } as const;
    expect((await store.intend(action)).ok).toBe(true);
    const client = new pg.Client({ connectionString: database.adminUrl });
    await client.connect();
    await client.query('ALTER TABLE actions DISABLE TRIGGER USER');
    await client.query("UPDATE actions SET intent = intent || jsonb_build_object('daemon', $2::jsonb) WHERE id = $1", [
      id,
      JSON.stringify(daemon),
    ]);
    await client.query('ALTER TABLE actions ENABLE TRIGGER USER');
    await client.end();
    return id;
  };
  const parent = { bootId: ownProcess()?.bootId, pid: process.ppid, startTicks: readProcess(process.ppid)?.startTicks };
  const theirs = await begin(parent);
  const ours = [
    await begin({ ...parent, startTicks: '1' }),
    await begin({ ...ownProcess() }),
    await begin(null),
    await begin({ pid: 'x' }),
  ];
  const open = await store.openActions('here');
  const ids = open.ok ? open.value.map(({ action }) => action.id) : [];
  expect(ids.toSorted()).toEqual(ours.toSorted());
  expect(ids).not.toContain(theirs);
});
