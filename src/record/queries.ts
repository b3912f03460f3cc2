import pg from 'pg';
import { z } from 'zod';
import type { LedgerEntry } from '../model/action.ts';
import type { Json } from '../model/event.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { connect, reasonOf } from './connection.ts';
import { findAgent, hostName } from './known-agent.ts';
import { readLedger } from './ledger.ts';
import { exact, json, jsonObject, leftOut, moment, sound, texts, words } from './rows.ts';
import { tallyScores } from './scores.ts';

export interface EventRow {
  at: string;
  agent: string;
  host: string;
  source: string;
  kind: string;
  data: { [key: string]: Json };
}

const eventShape = z.object({ at: moment, name: exact(), source: words(40), kind: words(80), data: jsonObject });

export type QueryFailure = 'unavailable' | 'no-agent';

/** The newest events of one agent (or of all), oldest first. */
export function readEvents(
  url: string,
  ownHost: string,
  agent: string | null,
  limit: number,
): Promise<Result<EventRow[], QueryFailure>> {
  return withClient(url, async (client) => {
    const of = await findAgent(client, ownHost, agent);
    if (!of.ok) return of;
    const rows = await client.query(
      `SELECT e.id, e.at, ${texts('a', 'name')}, ${texts('e', 'source', 'kind')}, ${json('e', 'data')}
       FROM events e JOIN agents a ON a.id = e.agent_id
       WHERE a.host = $1 AND ($2::text IS NULL OR a.name = $2) ORDER BY e.at DESC, e.recorded_at DESC LIMIT $3`,
      [of.value.host, of.value.agent, limit],
    );
    const read = sound('events', eventShape, rows.rows.reverse(), leftOut);
    const host = await hostName(client, of.value.host);
    return ok(read.map(({ name, at, ...row }) => ({ ...row, at: new Date(at).toISOString(), agent: name, host })));
  });
}

/** What was done on one host. */
export interface HostLedger {
  /** As people call it. */
  host: string;
  entries: LedgerEntry[];
}

export function queryLedger(
  url: string,
  ownHost: string,
  filter: { agent: string | null; kind: string | null; limit: number },
): Promise<Result<HostLedger, QueryFailure>> {
  return withClient(url, async (client) => {
    const of = await findAgent(client, ownHost, filter.agent);
    if (!of.ok) return of;
    const { host, agent } = of.value;
    const entries = await readLedger(client, host, { ...filter, agent });
    return ok({ host: await hostName(client, host), entries });
  });
}

export function queryScores(
  url: string,
  host: string,
  sinceMs: number,
): Promise<Result<Awaited<ReturnType<typeof tallyScores>>, QueryFailure>> {
  return withClient(url, async (client) => ok(await tallyScores(client, host, sinceMs)));
}

const exportBatch = 500;

/** Every row of every table, in turn, without holding more than a batch. */
export function exportRows(
  url: string,
  row: (table: string, values: Json) => Promise<void>,
): Promise<Result<number, QueryFailure>> {
  return withClient(url, async (client) => {
    // One snapshot for all tables, so that rows and the rows they point at fit together.
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const tables = await client.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename",
    );
    let count = 0;
    for (const { name } of tables.rows) {
      const table = pg.escapeIdentifier(name);
      await client.query(`DECLARE rows NO SCROLL CURSOR FOR SELECT to_jsonb(t) AS value FROM ${table} t`);
      for (;;) {
        const batch = await client.query<{ value: Json }>(`FETCH ${exportBatch} FROM rows`);
        for (const { value } of batch.rows) await row(name, value);
        count += batch.rows.length;
        if (batch.rows.length < exportBatch) break;
      }
      await client.query('CLOSE rows');
    }
    await client.query('COMMIT');
    return ok(count);
  });
}

/** For `doctor`: which server answers, and what schema it has. */
export function describeServer(url: string): Promise<Result<{ version: string; schema: number }, QueryFailure>> {
  return withClient(url, async (client) => {
    const server = await client.query<{ server_version: string }>('SHOW server_version');
    const schema = await client.query<{ version: number | null }>(
      'SELECT max(version) AS version FROM schema_migrations',
    );
    return ok({ version: server.rows[0]?.server_version ?? '?', schema: schema.rows[0]?.version ?? 0 });
  });
}

/** One connection for one piece of work. */
export async function withClient<T, R extends string = QueryFailure>(
  url: string,
  work: (client: pg.Client) => Promise<Result<T, R>>,
): Promise<Result<T, R | 'unavailable'>> {
  let client: pg.Client | null = null;
  try {
    client = await connect(url, { connectionTimeoutMillis: 5_000, statement_timeout: 60_000 });
    return await work(client);
  } catch (error) {
    return fail('unavailable', `the database does not answer (${reasonOf(error)})`);
  } finally {
    await client?.end().catch(() => {});
  }
}
