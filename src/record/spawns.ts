import type pg from 'pg';
import type { SpawnRow, SpawnSource, SpawnStatus, StoredSpawn } from '../model/spawn.ts';
import { past, time } from './agent-row.ts';

/** `active_spawns`: the first requirement's columns, and what the watch over them needs. */

/** The clients' own: told again by their records whatever happens to the row. */
export const upsertClientSpawns = `
  INSERT INTO active_spawns (project, task_id, task_type, description, spawn_time, last_output_change, output_file, status,
    agent_id, host, source, session_id, label, reason, ended_at, noticed)
  SELECT project, task_id, task_type, description, spawn_time, last_output_change, output_file, status,
    agent_id, host, source, session_id, label, reason, ended_at, status
  FROM jsonb_populate_recordset(NULL::active_spawns, $1::jsonb)
  ON CONFLICT (project, task_id) DO UPDATE SET last_output_change = excluded.last_output_change, status = excluded.status,
    output_file = excluded.output_file, reason = excluded.reason, ended_at = excluded.ended_at, noticed = excluded.noticed
  WHERE active_spawns.source = 'client'`;

/** Somebody's own rows: an end they wrote stands, and a row they removed does not come back. */
export const updateTrackedSpawns = `
  UPDATE active_spawns s SET
    last_output_change = coalesce(n.last_output_change, s.last_output_change),
    status = CASE WHEN s.ended_at IS NULL AND s.status NOT IN ('finished', 'failed') THEN n.status ELSE s.status END,
    reason = CASE WHEN s.ended_at IS NULL THEN n.reason ELSE s.reason END,
    agent_id = coalesce(s.agent_id, n.agent_id),
    host = coalesce(s.host, n.host),
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

export interface SpawnRecord {
  id: number;
  host: string | null;
  agent: string | null;
  project: string;
  task_id: string;
  task_type: string | null;
  description: string | null;
  spawn_time: Date | null;
  last_output_change: Date | null;
  output_file: string | null;
  status: string | null;
  source: SpawnSource;
  session_id: string | null;
  label: string | null;
  reason: string | null;
  ended_at: Date | null;
  noticed: string | null;
}

const rowsMax = 2_000;

export const selectSpawns = `SELECT s.*, a.name AS agent FROM active_spawns s LEFT JOIN agents a ON a.id = s.agent_id`;

/** What runs, and what ended after the given time. Rows without a host were put in by hand: whoever looks takes them. */
export async function loadSpawns(
  client: pg.ClientBase,
  host: string,
  endedAfterMs: number,
  only: SpawnSource | null,
): Promise<StoredSpawn[]> {
  const rows = await client.query<SpawnRecord>(
    `${selectSpawns} WHERE (s.host = $1 OR (s.host IS NULL AND s.source = 'tracked'))
       AND ($3::text IS NULL OR s.source = $3)
       AND (s.ended_at > $2 OR (s.ended_at IS NULL AND (s.status NOT IN ('finished', 'failed') OR s.spawn_time > $2)))
     ORDER BY s.id DESC LIMIT ${rowsMax}`,
    [host, time(endedAfterMs), only],
  );
  return rows.rows.map(storedSpawn);
}

const statuses: readonly string[] = ['running', 'stalled', 'failed', 'finished', 'abandoned'] satisfies SpawnStatus[];

/** Other programs write this table too: a word that is none of ours means that it runs. */
function status(text: string | null): SpawnStatus {
  return text !== null && statuses.includes(text) ? (text as SpawnStatus) : 'running';
}

export function storedSpawn(row: SpawnRecord): StoredSpawn {
  return {
    id: row.id,
    host: row.host,
    agent: row.agent,
    project: row.project,
    taskId: row.task_id,
    taskType: row.task_type,
    source: row.source,
    sessionId: row.session_id,
    label: row.label,
    description: row.description,
    output: row.output_file,
    spawnedAtMs: past(row.spawn_time) ?? 0,
    lastOutputMs: past(row.last_output_change),
    status: status(row.status),
    reason: row.reason,
    endedAtMs: past(row.ended_at),
    noticed: row.noticed === null ? null : status(row.noticed),
  };
}

/** What was done about a finding, beside what was found. */
export async function noteAction(client: pg.ClientBase, finding: string, taken: string): Promise<void> {
  await client.query(
    `UPDATE health_checks SET action_taken = concat_ws(', ', action_taken, $2::text)
     WHERE details->>'finding' = $1 AND status <> 'ok'`,
    [finding, taken],
  );
}
