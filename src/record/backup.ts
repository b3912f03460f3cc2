import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import copyStreams from 'pg-copy-streams';
import { fail, ok, type Result } from '../model/result.ts';
import {
  type BackupFileFailure,
  type BackupHead,
  BackupReader,
  type Done,
  readBackupHead,
  verifyBackup,
  writeBackupFile,
} from './backup-file.ts';
import { connect, reasonOf } from './connection.ts';
import { lockKey, newestSchema, ownObjects, raiseSchema } from './migrate.ts';

/** A host whose daemon was heard of within this time may still write. */
const livesSeconds = 60;

const stopped = fail('stopped', 'stopped; nothing was changed');

export interface Copied {
  head: BackupHead;
  bytes: number;
  rows: Record<string, number>;
}

export type CopyFailure = BackupFileFailure | 'unavailable' | 'not-empty' | 'in-use' | 'stopped';

export interface CopyOptions {
  /** Bytes done, and about how many there are. */
  watch: (done: number, total: number) => void;
  signal: AbortSignal;
}

/** Everything as it is in one moment, whoever writes meanwhile. */
export async function writeBackup(
  url: string,
  file: string,
  maker: Pick<BackupHead, 'version' | 'host'>,
  { watch, signal }: CopyOptions,
): Promise<Result<Copied, CopyFailure>> {
  return onDatabase(url, signal, async (client) => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const head = await headOf(client, maker);
    const total = await sizeOf(client, head);
    const rows: Record<string, number> = {};
    async function* table(name: string, columns: string[]): AsyncGenerator<Buffer> {
      const copy = client.query(copyStreams.to(`COPY ${listed(name, columns)} TO STDOUT`));
      yield* copy as AsyncIterable<Buffer>;
      rows[name] = copy.rowCount;
    }
    const written = await writeBackupFile(file, head, table, { done: (bytes) => watch(bytes, total), signal });
    return written.ok ? ok({ head, bytes: written.value, rows }) : written;
  });
}

async function headOf(client: pg.Client, maker: Pick<BackupHead, 'version' | 'host'>): Promise<BackupHead> {
  const own = ownObjects('TABLE');
  const found = await client.query<{ table: string; column: string; sequence: string | null }>(
    `SELECT c.relname AS table, a.attname AS column, pg_get_serial_sequence(c.oid::regclass::text, a.attname) AS sequence
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.oid IN (SELECT to_regclass(quote_ident(name)) FROM unnest($1::text[]) AS name)
       AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY a.attnum`,
    [own],
  );
  const sequences: BackupHead['sequences'] = [];
  for (const { table, column, sequence } of found.rows) {
    if (sequence === null) continue;
    const stands = await client.query<{ last: string; called: boolean }>(
      `SELECT last_value::text AS last, is_called AS called FROM ${sequence}`,
    );
    for (const at of stands.rows) sequences.push({ table, column, ...at });
  }
  const about = await client.query<{ server: string; at: Date }>(
    "SELECT current_setting('server_version') AS server, now() AS at",
  );
  const hosts = await client.query<{ id: string; name: string }>('SELECT id, name FROM hosts ORDER BY first_seen');
  const columnsOf = (name: string) => found.rows.filter(({ table }) => table === name).map(({ column }) => column);
  return {
    ...{ v: 1, ...maker, schema: newestSchema(), server: about.rows[0]?.server ?? '?' },
    at: (about.rows[0]?.at ?? new Date(0)).toISOString(),
    ...{ hosts: hosts.rows, tables: own.map((name) => ({ name, columns: columnsOf(name) })), sequences },
  };
}

async function sizeOf(client: pg.Client, { tables }: BackupHead): Promise<number> {
  const asked = await client.query<{ bytes: string }>(
    'SELECT coalesce(sum(pg_table_size(to_regclass(quote_ident(name)))), 0) AS bytes FROM unnest($1::text[]) AS name',
    [tables.map(({ name }) => name)],
  );
  return Number(asked.rows[0]?.bytes);
}

export interface Backup {
  file: string;
  head: BackupHead;
  bytes: number;
}

/** One that is whole and that this version can take in. */
export async function openBackup(file: string, signal: AbortSignal): Promise<Result<Backup, CopyFailure>> {
  const head = await readBackupHead(file, newestSchema());
  if (!head.ok) return head;
  const own = ownObjects('TABLE', head.value.schema);
  const named = head.value.tables.map(({ name }) => name);
  if (named.join() !== own.join()) return fail('bad-file', `${file} has other tables than it should`);
  try {
    const whole = await verifyBackup(file, signal);
    return whole.ok ? ok({ file, head: head.value, bytes: whole.value }) : whole;
  } catch (error) {
    return signal.aborted ? stopped : fail('bad-file', `${file} cannot be read (${reasonOf(error)})`);
  }
}

/** In one transaction: it is all there afterwards, or everything is as it was. */
export async function readBackup(
  url: string,
  { file, head, bytes }: Backup,
  { ownHost, replace, watch, signal }: CopyOptions & { ownHost: string; replace: boolean },
): Promise<Result<Copied, CopyFailure>> {
  return onDatabase(url, signal, async (client) => {
    await client.query("SET lock_timeout TO '10s'");
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [lockKey]);
    const why = await whyNotReplaced(client, ownHost, replace);
    if (why !== null) return why;
    await dropOwn(client);
    await raiseSchema(client, head.schema);
    const rows = await load(client, file, head, { watch: (done) => watch(done, bytes), signal });
    await raiseSchema(client, newestSchema());
    await client.query('COMMIT');
    return ok({ head, bytes, rows });
  });
}

async function whyNotReplaced(
  client: pg.Client,
  ownHost: string,
  replace: boolean,
): Promise<Result<never, CopyFailure> | null> {
  const alive = await client.query<{ name: string }>(
    `SELECT name FROM hosts WHERE id <> $1 AND seen_at > now() - make_interval(secs => ${livesSeconds})`,
    [ownHost],
  );
  if (alive.rows[0] !== undefined)
    return fail(
      'in-use',
      `a daemon on ${alive.rows[0].name} writes to this database`,
      `stop it and try again after ${livesSeconds} s`,
    );
  for (const name of replace ? [] : ownObjects('TABLE')) {
    const found = await client.query(`SELECT 1 FROM ${pg.escapeIdentifier(name)} LIMIT 1`);
    if (found.rowCount !== 0)
      return fail('not-empty', 'the database is not empty', '--replace puts the backup in the place of what is there');
  }
  return null;
}

/** Nothing that others put beside it; what they have made of ours stands in the way. */
async function dropOwn(client: pg.Client): Promise<void> {
  for (const kind of ['VIEW', 'TABLE', 'FUNCTION'] as const) {
    const names = [...ownObjects(kind), ...(kind === 'TABLE' ? ['schema_migrations'] : [])];
    await client.query(`DROP ${kind} IF EXISTS ${names.map(pg.escapeIdentifier).join(', ')}`);
  }
}

async function load(
  client: pg.Client,
  file: string,
  head: BackupHead,
  { watch, signal }: { watch: Done; signal: AbortSignal },
): Promise<Record<string, number>> {
  const rows: Record<string, number> = {};
  const reader = BackupReader.of(file, watch);
  await reader.skipHead();
  for (const { name, columns } of head.tables) {
    const copy = client.query(copyStreams.from(`COPY ${listed(name, columns)} FROM STDIN`));
    await pipeline(Readable.from(reader.table(), { objectMode: false }), copy, { signal });
    rows[name] = copy.rowCount;
  }
  for (const { table, column, last, called } of head.sequences)
    await client.query('SELECT setval(pg_get_serial_sequence($1, $2), $3::bigint, $4)', [
      ...[pg.escapeIdentifier(table), column, last, called],
    ]);
  return rows;
}

function listed(table: string, columns: string[]): string {
  return `${pg.escapeIdentifier(table)} (${columns.map(pg.escapeIdentifier).join(', ')})`;
}

async function onDatabase<T>(
  url: string,
  signal: AbortSignal,
  work: (client: pg.Client) => Promise<Result<T, CopyFailure>>,
): Promise<Result<T, CopyFailure>> {
  let client: pg.Client | null = null;
  try {
    client = await connect(url);
    return await work(client);
  } catch (error) {
    if (signal.aborted) return stopped;
    return fail('unavailable', `the database does not do it (${reasonOf(error)})`);
  } finally {
    client?.end().catch(() => {});
    // In the middle of a table its last word would never be read.
    client?.connection.stream.destroy();
  }
}
