import type pg from 'pg';
import { z } from 'zod';
import type { AgingRows, ClockMark } from '../model/aging.ts';
import { time } from '../model/time.ts';
import { bigCount, exact, leftOut, sound } from './rows.ts';

/** What is too old goes in small batches, each by an index, and only of the host that asks. */

// Rows of no agent and no host were put in by hand or are from before hosts were noted: whoever looks takes them.
const sql: Record<AgingRows, string> = {
  events: `DELETE FROM events WHERE id = ANY (ARRAY(
    SELECT e.id FROM agents a CROSS JOIN LATERAL
      (SELECT id FROM events WHERE agent_id = a.id AND at < $2 ORDER BY at LIMIT $3) e WHERE a.host = $1 LIMIT $3))`,
  points: `DELETE FROM context_points WHERE ctid = ANY (ARRAY(
    SELECT p.ctid FROM context_points p JOIN agents a ON a.id = p.agent_id
    WHERE a.host = $1 AND p.at < $2 ORDER BY p.at LIMIT $3))`,
  checks: `DELETE FROM health_checks WHERE id = ANY (ARRAY(
    SELECT c.id FROM health_checks c LEFT JOIN agents a ON a.id = c.agent_id
    WHERE coalesce(a.host, c.host, $1) = $1 AND c.check_time < $2 ORDER BY c.check_time LIMIT $3))`,
  spawns: `DELETE FROM active_spawns WHERE id = ANY (ARRAY(
    SELECT s.id FROM active_spawns s LEFT JOIN agents a ON a.id = s.agent_id
    WHERE coalesce(a.host, s.host, $1) = $1 AND s.status NOT IN ('running', 'stalled')
      AND greatest(s.ended_at, s.last_output_change, s.spawn_time) < $2 LIMIT $3))`,
  handoffs: `DELETE FROM handoffs WHERE id = ANY (ARRAY(
    SELECT h.id FROM handoffs h JOIN agents a ON a.id = h.agent_id
    WHERE a.host = $1 AND h.requested_at < $2 AND h.step IN ('done', 'failed') LIMIT $3))`,
  sessions: `DELETE FROM sessions WHERE ctid = ANY (ARRAY(
    SELECT s.ctid FROM sessions s JOIN agents a ON a.id = s.agent_id WHERE a.host = $1 AND s.ended_at < $2 LIMIT $3))`,
  incidents: `DELETE FROM incidents WHERE id = ANY (ARRAY(
    SELECT i.id FROM incidents i LEFT JOIN agents a ON a.id = i.agent_id
    WHERE coalesce(a.host, i.host) = $1 AND i.closed_at < $2 LIMIT $3))`,
  scores: `DELETE FROM scores WHERE incident_id = ANY (ARRAY(
    SELECT incident_id FROM scores WHERE host = $1 AND ended_at < $2 ORDER BY ended_at LIMIT $3))`,
  ledger: 'SELECT expire_ledger($1, $2, $3::integer) AS count',
  // Whom the ledger speaks of stays.
  agents: `DELETE FROM agents WHERE id = ANY (ARRAY(
    SELECT a.id FROM agents a WHERE a.host = $1 AND a.state = 'ended' AND a.last_seen < $2
      AND NOT EXISTS (SELECT FROM actions WHERE agent_id = a.id) LIMIT $3))`,
};

export async function expire(
  client: pg.ClientBase,
  host: string,
  rows: AgingRows,
  beforeMs: number,
  rowsMax: number,
): Promise<number> {
  const done = await client.query<{ count?: number }>(sql[rows], [host, time(beforeMs), rowsMax]);
  return done.rows[0]?.count ?? done.rowCount ?? 0;
}

/** As they are, also where the clock was ahead; what is no time is no mark. */
const markShape = z.object({ passed_ms: bigCount, at: z.date(), boot_id: exact(100), boot_ms: bigCount });

/** The oldest first. */
export async function clockMarks(client: pg.ClientBase, host: string): Promise<ClockMark[]> {
  const rows = await client.query('SELECT * FROM clock_marks WHERE host = $1 ORDER BY passed_ms', [host]);
  return sound('clock_marks', markShape, rows.rows, leftOut).map((row) => ({
    passedMs: row.passed_ms,
    atMs: row.at.getTime(),
    bootId: row.boot_id,
    bootMs: row.boot_ms,
  }));
}

/** `keptMs`: older ones tell nothing any more, but for the last of them. */
export async function addClockMark(
  client: pg.ClientBase,
  host: string,
  mark: ClockMark,
  keptMs: number,
): Promise<void> {
  const passedMs = Math.round(mark.passedMs);
  await client.query(
    `INSERT INTO clock_marks (host, passed_ms, at, boot_id, boot_ms) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (host, passed_ms) DO UPDATE SET at = least(clock_marks.at, excluded.at)`,
    [host, passedMs, time(mark.atMs), mark.bootId, Math.round(mark.bootMs)],
  );
  await client.query('DELETE FROM clock_marks WHERE host = $1 AND passed_ms < $2', [host, passedMs - keptMs]);
}

/** What this host wrote last, by its own clock; null: nothing yet. */
export async function newestRowMs(client: pg.ClientBase, host: string): Promise<number | null> {
  const rows = await client.query<{ at: Date | null }>(
    'SELECT max(last_seen) AS at FROM agents WHERE host = $1 AND isfinite(last_seen)',
    [host],
  );
  return rows.rows[0]?.at?.getTime() ?? null;
}
