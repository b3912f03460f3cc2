import type pg from 'pg';
import { z } from 'zod';
import { type SpawnRow, type SpawnSource, type StoredSpawn, spawnStatuses } from '../model/spawn.ts';
import { time } from '../model/time.ts';
import { exact, leftOut, moment, type OddRow, sessionId, sound, texts, words } from './rows.ts';

/** `active_spawns`: the first requirement's columns, and what the watch over them needs. */

/** The clients' own: told again by their records whatever happens to the row. */
export const upsertClientSpawns = `
  INSERT INTO active_spawns (project, task_id, task_type, description, spawn_time, last_output_change, output_file, status,
    agent_id, host, source, session_id, label, reason, ended_at, noticed)
  SELECT project, task_id, task_type, description, spawn_time, last_output_change, output_file, status,
    agent_id, host, source, session_id, label, reason, ended_at, status
  FROM jsonb_populate_recordset(NULL::active_spawns, $1::jsonb)
  ON CONFLICT ((coalesce(host, '')), project, task_id) DO UPDATE SET last_output_change = excluded.last_output_change, status = excluded.status,
    output_file = excluded.output_file, session_id = excluded.session_id, reason = excluded.reason, ended_at = excluded.ended_at, noticed = excluded.noticed
  WHERE active_spawns.source = 'client'`;

/** Somebody's own rows: an end they wrote stands, and a row they removed does not come back. */
export const updateTrackedSpawns = `
  UPDATE active_spawns s SET
    last_output_change = coalesce(n.last_output_change, s.last_output_change),
    status = CASE WHEN s.ended_at IS NULL AND s.status NOT IN ('finished', 'failed') THEN n.status ELSE s.status END,
    reason = CASE WHEN s.ended_at IS NULL THEN n.reason ELSE s.reason END,
    agent_id = coalesce(s.agent_id, n.agent_id),
    -- Its agent may have been handed over to another session.
    session_id = coalesce(n.session_id, s.session_id),
    -- A row put in by hand becomes this host's, unless it has one of that name.
    host = CASE WHEN s.host IS NULL AND NOT EXISTS (SELECT FROM active_spawns o
      WHERE o.host = n.host AND (o.project, o.task_id) = (s.project, s.task_id)) THEN n.host ELSE s.host END,
    noticed = n.status
  FROM jsonb_populate_recordset(NULL::active_spawns, $1::jsonb) n WHERE s.id = n.id`;

export function spawnRow(row: SpawnRow): object {
  return {
    id: row.id,
    project: cut(row.project, 50),
    task_id: cut(row.taskId, 100),
    task_type: row.taskType === null ? null : cut(row.taskType, 50),
    description: row.description,
    spawn_time: time(row.spawnedAtMs),
    last_output_change: time(row.lastOutputMs),
    output_file: row.output?.toWellFormed() ?? null,
    status: row.status,
    host: row.host,
    source: row.source,
    session_id: row.sessionId,
    label: row.label,
    reason: row.reason,
    ended_at: time(row.endedAtMs),
  };
}

/** For a column of bounded width: a character of two halves stays whole, since PostgreSQL refuses a lone half. */
export function cut(text: string, charsMax: number): string {
  return text.slice(0, charsMax).toWellFormed();
}

/** Other programs write this table too: a word that is none of ours means that it runs. */
const status = z.enum(spawnStatuses).catch('running').nullable();
/** Nor are their times always times. */
const whenever = moment.nullable().catch(null);

const spawnShape = z.object({
  id: z.number().int(),
  host: exact().nullable(),
  name: exact().nullable(),
  project: words(200),
  task_id: words(400),
  task_type: words(200).nullable(),
  description: words().nullable(),
  spawn_time: whenever,
  last_output_change: whenever,
  // Only ever looked at as any output of an agent: a plain file of this user.
  output_file: exact(4_096).nullable().catch(null),
  status,
  source: z.enum(['client', 'tracked']),
  session_id: sessionId.nullable().catch(null),
  label: words(200).nullable(),
  reason: words(500).nullable(),
  ended_at: moment.nullable(),
  noticed: status,
  unopened: z.boolean().optional(),
});

const rowsMax = 2_000;

const spawnColumns = `s.id, s.spawn_time, s.last_output_change, s.ended_at, ${texts('a', 'name')},
    ${texts('s', 'host', 'project', 'task_id', 'task_type', 'description', 'output_file', 'status', 'source', 'session_id', 'label', 'reason', 'noticed')}`;
const spawnTables = 'FROM active_spawns s LEFT JOIN agents a ON a.id = s.agent_id';

export const selectSpawns = `SELECT ${spawnColumns} ${spawnTables}`;

/**
 * A failure whose check row is there without the trouble that it names: the daemon was killed between the two. Asked for
 * at a start only.
 */
const unopened = `coalesce($3::text IS NULL AND s.noticed = 'failed' AND EXISTS (
    SELECT FROM health_checks h WHERE h.agent_id IS NOT DISTINCT FROM s.agent_id AND h.check_time > $2 AND h.check_type = 'spawn'
      AND h.project = s.project AND h.details->>'task_id' = s.task_id AND h.details->>'spawn_status' = 'failed'
      AND h.details->>'finding' IS NOT NULL
      AND NOT EXISTS (SELECT FROM incidents i WHERE i.id::text = h.details->>'finding')), false) AS unopened`;

/** What runs, and what ended after the given time. Rows without a host were put in by hand: whoever looks takes them. */
export async function loadSpawns(
  client: pg.ClientBase,
  host: string,
  endedAfterMs: number,
  only: SpawnSource | null,
  odd: OddRow,
): Promise<StoredSpawn[]> {
  const rows = await client.query(
    `SELECT ${spawnColumns}, ${unopened} ${spawnTables} WHERE (s.host = $1 OR (s.host IS NULL AND s.source = 'tracked'))
       AND ($3::text IS NULL OR s.source = $3)
       AND (s.ended_at > $2 OR (s.ended_at IS NULL AND (s.status NOT IN ('finished', 'failed') OR s.spawn_time > $2)))
     ORDER BY s.id DESC LIMIT ${rowsMax}`,
    [host, time(endedAfterMs), only],
  );
  return storedSpawns(rows.rows, odd);
}

export function storedSpawns(rows: readonly unknown[], odd: OddRow = leftOut): StoredSpawn[] {
  return sound('active_spawns', spawnShape, rows, odd).map((row) => ({
    id: row.id,
    host: row.host,
    agent: row.name,
    project: row.project,
    taskId: row.task_id,
    taskType: row.task_type,
    source: row.source,
    sessionId: row.session_id,
    label: row.label,
    description: row.description,
    output: row.output_file,
    spawnedAtMs: row.spawn_time ?? 0,
    lastOutputMs: row.last_output_change,
    status: row.status ?? 'running',
    reason: row.reason,
    endedAtMs: row.ended_at,
    noticed: row.noticed,
    isUnopened: row.unopened === true,
  }));
}
