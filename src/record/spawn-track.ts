import type pg from 'pg';
import { z } from 'zod';
import type { SpawnRow, StoredSpawn } from '../model/spawn.ts';
import { count, digits, exact, leftOut, sessionId, sound, texts, words } from './rows.ts';
import { selectSpawns, storedSpawns } from './spawns.ts';

/** What `spawn-track` writes and reads. The daemon finds it in the table. */

export interface LivingAgent {
  name: string;
  project: string;
  sessionId: string | null;
  process: { bootId: string; pid: number; startTicks: string };
}

export async function livingAgents(client: pg.ClientBase, host: string): Promise<LivingAgent[]> {
  const rows = await client.query(
    `SELECT a.pid, ${texts('a', 'name', 'project', 'session_id', 'boot_id', 'start_ticks')}
     FROM agents a WHERE a.host = $1 AND a.state <> 'ended' ORDER BY a.last_seen DESC LIMIT ${livingMax}`,
    [host],
  );
  return sound('agents', livingShape, rows.rows, leftOut, ({ name }) => name).map((row) => ({
    name: row.name,
    project: row.project,
    sessionId: row.session_id,
    process: { bootId: row.boot_id, pid: row.pid, startTicks: row.start_ticks },
  }));
}

const livingMax = 5_000;
const livingShape = z.object({
  name: exact(),
  project: words(200),
  session_id: sessionId.nullable(),
  boot_id: exact(100),
  pid: count,
  start_ticks: digits,
});

export type NewSpawn = Pick<
  SpawnRow,
  'agent' | 'project' | 'taskId' | 'taskType' | 'description' | 'output' | 'sessionId'
>;

/** Of this host, or put in by hand, which is whoever's looks. */
const named = 'project = $1 AND task_id = $2 AND (host = $3 OR host IS NULL)';

/** `taken`: there is one of this name; `client`: and it is a client's own, which cannot be replaced. */
export async function addSpawn(
  client: pg.ClientBase,
  host: string,
  spawn: NewSpawn,
  replace: boolean,
): Promise<'added' | 'taken' | 'client'> {
  const key = [spawn.project, spawn.taskId];
  await client.query('BEGIN');
  const there = await client.query<{ source: string }>(`SELECT source FROM active_spawns WHERE ${named} FOR UPDATE`, [
    ...key,
    host,
  ]);
  const source = there.rows.find((row) => row.source === 'client')?.source ?? there.rows[0]?.source;
  if (source === 'client' || (source !== undefined && !replace)) {
    await client.query('ROLLBACK');
    return source === 'client' ? 'client' : 'taken';
  }
  // A new row: the watch begins anew.
  if (source !== undefined) await client.query(`DELETE FROM active_spawns WHERE ${named}`, [...key, host]);
  const added = await client.query(
    `INSERT INTO active_spawns (project, task_id, task_type, description, output_file, host, session_id, label, agent_id)
     VALUES ($1, $2, $3::text, $4, $5, $6::text, $7, $3::text, (SELECT id FROM agents WHERE host = $6::text AND name = $8))
     ON CONFLICT ((coalesce(host, '')), project, task_id) DO NOTHING`,
    [...key, spawn.taskType, spawn.description, spawn.output, host, spawn.sessionId, spawn.agent],
  );
  await client.query('COMMIT');
  return added.rowCount === 1 ? 'added' : 'taken';
}

/** `over`: it has ended otherwise already. */
export async function endSpawn(
  client: pg.ClientBase,
  host: string,
  spawn: { project: string; taskId: string; status: 'finished' | 'failed'; reason: string | null },
): Promise<'ended' | 'none' | 'over' | 'client'> {
  const key = [spawn.project, spawn.taskId, host];
  const ended = await client.query(
    `UPDATE active_spawns SET status = $4, reason = $5, ended_at = now() WHERE ${named} AND source = 'tracked' AND status NOT IN ('finished', 'failed')`,
    [...key, spawn.status, spawn.reason],
  );
  if ((ended.rowCount ?? 0) > 0) return 'ended';
  const there = await client.query<{ source: string; status: string }>(
    `SELECT source, status FROM active_spawns WHERE ${named}`,
    key,
  );
  const [row] = there.rows;
  if (row === undefined) return 'none';
  if (row.source === 'client') return 'client';
  return row.status === spawn.status ? 'ended' : 'over';
}

export async function listSpawns(
  client: pg.ClientBase,
  host: string,
  filter: { project: string | null; all: boolean; limit: number },
): Promise<StoredSpawn[]> {
  const rows = await client.query(
    `${selectSpawns} WHERE ($1::text IS NULL OR s.project = $1)
       AND ($2 OR (s.ended_at IS NULL AND s.status NOT IN ('finished', 'failed')))
       AND (s.host = $4 OR s.host IS NULL)
     ORDER BY s.spawn_time DESC LIMIT $3`,
    [filter.project, filter.all, filter.limit, host],
  );
  return storedSpawns(rows.rows).reverse();
}
