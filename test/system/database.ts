import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';

export interface TestDatabase {
  name: string;
  url: string;
  adminUrl: string;
  drop(): Promise<void>;
}

/** Any number, the same in all test files. */
const templateLock = 7_710_001;

/**
 * An own database for one test file, cloned from a template on the run's server. `prepare` (the migrations) runs once per
 * run and template, and must close its connections: PostgreSQL does not clone a database in use.
 */
export async function cloneDatabase(
  prepare: (adminUrl: string) => Promise<void>,
  template = 'wk_test_template',
): Promise<TestDatabase> {
  const name = `wk_test_${randomBytes(6).toString('hex')}`;
  await onServer(async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [templateLock]);
    try {
      await ensureTemplate(client, template, prepare);
      await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
    } finally {
      await client.query('SELECT pg_advisory_unlock($1)', [templateLock]);
    }
  });
  return {
    name,
    url: onDatabase(inject('postgresUrl'), name),
    adminUrl: onDatabase(inject('postgresAdminUrl'), name),
    drop: () => onServer((client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  };
}

async function ensureTemplate(
  client: pg.Client,
  template: string,
  prepare: (adminUrl: string) => Promise<void>,
): Promise<void> {
  const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [template]);
  if (found.rowCount !== 0) return;
  // Under its final name only when finished: a failed `prepare` must not pass for a template.
  const draft = `${template}_draft`;
  await client.query(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
  await client.query(`CREATE DATABASE ${draft}`);
  await prepare(onDatabase(inject('postgresAdminUrl'), draft));
  await client.query(`ALTER DATABASE ${draft} RENAME TO ${template}`);
}

async function onServer(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresAdminUrl') });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function onDatabase(url: string, name: string): string {
  return url.replace('@/watchkeeper?', `@/${name}?`);
}
