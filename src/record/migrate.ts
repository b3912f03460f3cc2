import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { fail, ok, type Result } from '../model/result.ts';
import { connect, reasonOf } from './connection.ts';

export type MigrateFailure = 'unavailable' | 'newer-schema' | 'too-old' | 'failed';

const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), 'migrations');
/** Any number will do, as long as every Watchkeeper uses the same. */
export const lockKey = 7_307_182;
const oldestServer = 140_000;

interface Migration {
  version: number;
  name: string;
  sql: string;
}

/** Brings the schema up to date. Numbered files, each in a transaction; two starters at once wait for each other. */
export async function migrate(url: string): Promise<Result<number, MigrateFailure>> {
  let client: pg.Client;
  try {
    client = await connect(url);
  } catch (error) {
    return fail('unavailable', `cannot connect to the database (${reasonOf(error)})`, 'check DATABASE_URL');
  }
  try {
    const server = await client.query<{ server_version_num: string }>('SHOW server_version_num');
    if (Number(server.rows[0]?.server_version_num) < oldestServer) {
      return fail('too-old', 'the database server is older than PostgreSQL 14', 'use a newer server');
    }
    await client.query('SELECT pg_advisory_lock($1)', [lockKey]);
    return await apply(client);
  } catch (error) {
    return fail('failed', `the schema could not be brought up to date (${(error as Error).message})`);
  } finally {
    await client.end().catch(() => {});
  }
}

async function apply(client: pg.Client): Promise<Result<number, MigrateFailure>> {
  const newest = newestSchema();
  const beyond = Math.max(0, ...(await applied(client)));
  if (beyond > newest) {
    return fail(
      'newer-schema',
      `the database has schema ${beyond}, this version knows up to ${newest}`,
      'install a newer watchkeeper or use another database',
    );
  }
  for (const { version } of known()) {
    await client.query('BEGIN');
    await raiseSchema(client, version);
    await client.query('COMMIT');
  }
  return ok(newest);
}

export function newestSchema(): number {
  return known().at(-1)?.version ?? 0;
}

/** What is missing up to this version, within the caller's transaction. */
export async function raiseSchema(client: pg.Client, upTo: number): Promise<void> {
  const done = await applied(client);
  for (const { version, name, sql } of known()) {
    if (version > upTo || done.has(version)) continue;
    await client.query('INSERT INTO schema_migrations (version, name) VALUES ($1, $2)', [version, name]);
    await client.query(sql);
  }
}

async function applied(client: pg.Client): Promise<Set<number>> {
  await client.query(
    'CREATE TABLE IF NOT EXISTS schema_migrations (version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())',
  );
  const done = await client.query<{ version: number }>('SELECT version FROM schema_migrations');
  return new Set(done.rows.map((row) => row.version));
}

/** All that migrations make, in their order: a table comes after those it refers to. In the schema there may be others. */
export function ownObjects(kind: 'TABLE' | 'VIEW' | 'FUNCTION', upTo = newestSchema()): string[] {
  const made = new RegExp(`^CREATE (?:OR REPLACE )?${kind} (\\w+)`, 'gm');
  const names = known()
    .filter(({ version }) => version <= upTo)
    .flatMap(({ sql }) => [...sql.matchAll(made)].map(([, name = '']) => name));
  return [...new Set(names)];
}

function known(): Migration[] {
  return readdirSync(folder)
    .filter((file) => /^\d{4}_\w+\.sql$/.test(file))
    .sort()
    .map((file) => ({
      version: Number(file.slice(0, 4)),
      name: file.slice(5, -4),
      sql: readFileSync(path.join(folder, file), 'utf8'),
    }));
}
