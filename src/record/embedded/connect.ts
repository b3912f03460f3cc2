import pg from 'pg';
import type { EmbeddedPlace } from './place.ts';
import { adminRole, daemonRole, database, port } from './settings.ts';

type Attempt = 'ready' | 'not-yet' | 'refused';

const attemptTimeoutMs = 2_000;

export function urlOf(place: EmbeddedPlace, role: string): string {
  const host = place.socketDir.split('/').map(encodeURIComponent).join('/');
  return `postgresql://${role}@/${database}?host=${host}`;
}

/** Does the server answer, with everything in it that the daemon's role needs to connect? */
export async function daemonCanConnect(place: EmbeddedPlace): Promise<boolean> {
  return (await withClient(place, daemonRole, database, async () => {})).attempt === 'ready';
}

/** Safe to repeat: a starter may die between any two steps. */
export async function ensureDatabase(place: EmbeddedPlace): Promise<{ attempt: Attempt; message: string }> {
  return withClient(place, adminRole, 'postgres', async (client) => {
    const role = await client.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [daemonRole]);
    if (role.rowCount === 0) await client.query(`CREATE ROLE ${daemonRole} LOGIN`);
    const base = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [database]);
    if (base.rowCount === 0) await client.query(`CREATE DATABASE ${database} OWNER ${adminRole}`);
  });
}

async function withClient(
  place: EmbeddedPlace,
  user: string,
  base: string,
  work: (client: pg.Client) => Promise<void>,
): Promise<{ attempt: Attempt; message: string }> {
  // Everything is given, so that no PG* variable of ours is asked.
  const client = new pg.Client({
    host: place.socketDir,
    port,
    user,
    database: base,
    password: '',
    ssl: false,
    options: '',
    application_name: 'watchkeeper-start',
    connectionTimeoutMillis: attemptTimeoutMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await work(client);
    return { attempt: 'ready', message: '' };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    // Class 28: the server is up and does not want us; waiting does not change that.
    return { attempt: code?.startsWith('28') ? 'refused' : 'not-yet', message };
  } finally {
    await client.end().catch(() => {});
  }
}
