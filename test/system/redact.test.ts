// What slipped through is taken out by one function of the database's owner, which can do nothing else.
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveControl } from '../../src/daemon/control.ts';
import { redactEverywhere } from '../../src/daemon/redact.ts';
import { findHome, writeDaemonRecord } from '../../src/home/home.ts';
import { migrate } from '../../src/record/migrate.ts';
import { ownProcess } from '../../src/record/own-process.ts';
import { redactTables, whyKept } from '../../src/record/redact.ts';
import { cloneDatabase, type TestDatabase } from './database.ts';

const secret = 'Pa"ss\\wö/rd 1';
const inJson = JSON.stringify(secret).slice(1, -1);
const forms = [JSON.stringify(inJson).slice(1, -1), inJson, secret];
const me = { host: 'h', by: 'human me' } as const;
const handoff = randomUUID();
const action = randomUUID();
let database: TestDatabase;
let admin: pg.Client;
let daemon: pg.Client;

beforeAll(async () => {
  database = await cloneDatabase(async (url) => void (await migrate(url)), 'wk_test_migrated');
  admin = new pg.Client({ connectionString: database.adminUrl });
  daemon = new pg.Client({ connectionString: database.url });
  await Promise.all([admin.connect(), daemon.connect()]);
  await admin.query(
    `INSERT INTO agents (host, name, project, client, authority, boot_id, pid, start_ticks, started_at, state, state_since,
       source, confidence, last_seen, error, background)
     VALUES ('h', 'a', 'p', 'claude-code', 'observe', 'b', 1, '1', now(), 'idle', now(), 'registry', 1, now(), $1, $2),
       ('h', 'b', 'p', 'claude-code', 'observe', 'b', 2, '1', now(), 'idle', now(), 'registry', 1, now(), 'all well', '[]')`,
    [`x ${secret} y ${secret}`, JSON.stringify([{ id: 'x', n: 123456789, text: `a ${secret}` }])],
  );
  const deep = {
    a: [{ b: `x${secret}` }, 1, null],
    raw: JSON.stringify({ p: secret }),
    twice: JSON.stringify([inJson]),
  };
  await admin.query(
    `INSERT INTO events (id, at, agent_id, source, kind, data) SELECT gen_random_uuid(), now(), id, 'hook', 'test', $1 FROM agents WHERE name = 'a'`,
    [JSON.stringify({ ...deep, keep: 'as it is', n: 1.5 })],
  );
  await admin.query(
    `INSERT INTO active_spawns (project, task_id, description) VALUES ('p', $1, $2), ('p', $3, 'none')`,
    [`one ${secret}`, secret, `two ${secret}`],
  );
  await admin.query(
    `INSERT INTO handoffs (id, agent_id, project, trigger, recipe, nonce, file, cwd, old_session, requested_at, step, document, sha256)
     SELECT $1, id, 'p', 'human', 'document', 'wk-1', '/f', '/', 's', now(), 'saved', $2, 'old' FROM agents WHERE name = 'a'`,
    [handoff, `# Goal\n${secret}\nü`],
  );
  await daemon.query(`INSERT INTO actions (id, kind, trigger, intent) VALUES ($1, 'prompt', 'human', $2)`, [
    action,
    JSON.stringify({ text: `say ${secret}`, tag: 'wk-1' }),
  ]);
  await daemon.query(`INSERT INTO action_outcomes (action_id, outcome, reason) VALUES ($1, 'confirmed', $2)`, [
    action,
    `because ${secret}`,
  ]);
});
afterAll(async () => {
  await Promise.all([admin.end(), daemon.end()]);
  await database.drop();
});

async function everything(): Promise<Map<string, string[]>> {
  const tables = await admin.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
  );
  const all = new Map<string, string[]>();
  for (const { name } of tables.rows) {
    const rows = await admin.query<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM ${name} t ORDER BY 1`);
    all.set(
      name,
      rows.rows.map(({ row }) => row),
    );
  }
  return all;
}

describe('a secret is taken out of everything stored', () => {
  it('by the daemon’s role, in every table and form, and nothing else changes', async () => {
    const before = await everything();
    const done = await redactTables(database.url, forms, me);
    const replaced = { action_outcomes: 1, actions: 1, active_spawns: 2, agents: 1, events: 1, handoffs: 1 };
    expect(done).toEqual({ ok: true, value: replaced });
    const after = await everything();
    for (const [table, rows] of after) {
      const text = rows.join('\n');
      for (const each of ['Pa', 'ss\\\\', 'rd 1']) expect(text, table).not.toContain(each);
      // Rows that did not hold it are what they were.
      const kept = (before.get(table) ?? []).filter((row) => !/Pa\\*"ss/.test(row));
      expect(rows, table).toEqual(expect.arrayContaining(kept));
    }
    const events = await admin.query<{ data: object }>("SELECT data FROM events WHERE kind = 'test'");
    expect(events.rows[0]?.data).toEqual({
      a: [{ b: 'x[redacted]' }, 1, null],
      raw: '{"p":"[redacted]"}',
      twice: '["[redacted]"]',
      keep: 'as it is',
      n: 1.5,
    });
    const agent = await admin.query("SELECT error, background, authority FROM agents WHERE name = 'a'");
    expect(agent.rows[0]).toEqual({
      error: 'x [redacted] y [redacted]',
      background: [{ id: 'x', n: 123456789, text: 'a [redacted]' }],
      authority: 'observe',
    });
  });

  it('a handoff gets the hash of its new text', async () => {
    const { rows } = await admin.query('SELECT document, sha256 FROM handoffs WHERE id = $1', [handoff]);
    const document = '# Goal\n[redacted]\nü';
    expect(rows).toEqual([{ document, sha256: createHash('sha256').update(document).digest('hex') }]);
  });

  it('names that have to differ still do', async () => {
    const { rows } = await admin.query<{ task_id: string }>('SELECT task_id FROM active_spawns ORDER BY 1');
    expect(rows.map(({ task_id: id }) => id)).toEqual([
      expect.stringMatching(/^one \[redacted [0-9a-f]{6}\]$/),
      expect.stringMatching(/^two \[redacted [0-9a-f]{6}\]$/),
    ]);
  });

  it('and the ledger says that it was, by whom, and where', async () => {
    const { rows } = await admin.query("SELECT intent, host, trigger FROM actions WHERE kind = 'redact'");
    expect(rows).toMatchObject([
      { host: 'h', trigger: 'human', intent: { by: 'human me', replaced: { actions: 1, handoffs: 1 } } },
    ]);
  });
});

describe('nothing else can be done that way', () => {
  beforeAll(async () => {
    await admin.query(
      `INSERT INTO agents (host, name, project, client, authority, boot_id, pid, start_ticks, started_at, state, state_since,
         source, confidence, last_seen, tmux_session)
       VALUES ('h', 'acmecorp-ps', 'bigproject', 'claude-code', 'observe', 'b', 3, '1', now(), 'idle', now(), 'registry', 1,
         now(), 'paneplace')`,
    );
    const ofIt = "FROM agents WHERE name = 'acmecorp-ps'";
    await admin.query(
      `INSERT INTO sessions (agent_id, session_id, started_at) SELECT id, 'sess-01234567', now() ${ofIt}`,
    );
    await admin.query(
      `INSERT INTO handoffs (id, agent_id, project, trigger, recipe, nonce, file, cwd, old_session, requested_at, step)
       SELECT gen_random_uuid(), id, 'p', 'human', 'document', '0badcafe', '/openplace/f', '/', 's', now(), 'prompted' ${ofIt}`,
    );
    await admin.query("INSERT INTO active_spawns (project, task_id, source) VALUES ('p', 'toolu_01Abc', 'client')");
    await admin.query(
      `INSERT INTO incidents (id, agent_id, check_name, severity, text, opened_at, subject)
       SELECT gen_random_uuid(), id, 'looping', 'warning', 't', now(), 'opensubject' ${ofIt}`,
    );
    await admin.query(
      "INSERT INTO authority_overrides (host, agent, authority) VALUES ('h', 'widgetworks-ps', 'observe')",
    );
    await admin.query("INSERT INTO hosts (id, name) VALUES ('h', 'buildbox')");
  });

  it('the ledger still only grows, for everyone', async () => {
    for (const client of [daemon, admin]) {
      await expect(client.query("UPDATE actions SET kind = 'x'")).rejects.toThrow();
      await expect(client.query('DELETE FROM action_outcomes')).rejects.toThrow();
    }
  });

  it.each([
    ['what is short', ['12345']],
    ['nothing', []],
    ['no text', [null]],
    ['one form of several that is short', [secret, 'a']],
    ['blanks', ['        ']],
    ['our own words', ['confirmed']],
    ['a part of them', ['equeste']],
    ['the id of a handoff', [handoff]],
    ['the mark itself', ['[redacted]']],
    ['a check', ['auth-failed']],
    ['a part of one', ['th-fail']],
    ['a kind of action', ['notify']],
    ['a trigger', ['rule:no-answer']],
    ['an outcome', ['uncertain']],
    ['why nothing was typed', ['held-elsewhere']],
    ['a template', ['handoff-again']],
    ['how severe something is', ['critical']],
    ['a part of an agent’s name', ['acmecorp']],
    ['an agent’s project', ['bigproject']],
    ['the name of one that only a person’s word is on record of', ['widgetworks']],
    ['a terminal session', ['paneplace']],
    ['a machine’s name', ['buildbox']],
    ['a session', ['sess-0123']],
    ['what a handoff’s document is known by', ['0badcafe']],
    ['where an open handoff’s document is', ['openplace']],
    ['the id of a client’s own work', ['toolu_01A']],
    ['what an open trouble is about', ['opensubject']],
  ])('%s is refused, and nothing is changed', async (_name, given) => {
    const before = await everything();
    // The same word before anybody forgets it, and without doing anything.
    expect(await whyKept(database.url, given as string[])).toEqual({
      ok: true,
      value: expect.stringMatching(/^[^\n]+$/),
    });
    const done = await redactTables(database.url, given as string[], me);
    expect(done).toMatchObject({ ok: false, reason: 'refused' });
    expect(await everything()).toEqual(before);
  });

  it.each([
    ['what looks like the form of the document', '", "tag": "'],
    ['wildcards', '%%%%%%%%'],
    ['a pattern', '.*.*.*.*'],
    ['an order to the server', "'; DROP TABLE agents; --"],
    ['a figure', '123456789'],
    ['the name of a member', '"text"'],
    ['what a machine goes by', 'claude-code'],
    ['what only holds a name of ours', 'prompt acmecorp-ps hunter2'],
  ])('%s is text like any other', async (_name, given) => {
    const before = await everything();
    expect(await whyKept(database.url, [given])).toEqual({ ok: true, value: null });
    expect(await redactTables(database.url, [given], me)).toEqual({ ok: true, value: {} });
    const after = await everything();
    for (const table of ['agents', 'events', 'handoffs', 'active_spawns'])
      expect(after.get(table)).toEqual(before.get(table));
  });
});

it('a running daemon is told to forget what may be taken out, and nothing of what is refused', async () => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'wk-redact-'));
  const home = findHome({ WATCHKEEPER_HOME: dir });
  const asked: unknown[] = [];
  const control = await serveControl(home, async (line) => {
    asked.push(JSON.parse(line));
    return { line: '{"ok":true}\n' };
  });
  if (!control.ok) throw new Error(control.message);
  try {
    const record = { ...ownProcess(), sockets: { control: control.value.path } };
    writeDaemonRecord(home, record as Parameters<typeof writeDaemonRecord>[1]);
    const options = { home, environment: { DATABASE_URL: database.adminUrl }, progress: () => {} };
    for (const word of ['critical', 'auth-failed', 'notify', 'acmecorp'])
      expect(await redactEverywhere(word, options), word).toMatchObject({ ok: false, reason: 'refused' });
    expect(asked).toEqual([]);
    expect(await redactEverywhere('hunter2hunter2', options)).toMatchObject({ ok: true });
    expect(asked).toMatchObject([{ ask: 'forget', forms: ['hunter2hunter2'] }]);
  } finally {
    control.value.close();
    rmSync(dir, { recursive: true, force: true });
  }
});
