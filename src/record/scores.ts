import type pg from 'pg';
import type { CheckName } from '../model/agent.ts';
import type { Ending, Score } from '../model/score.ts';
import type { RecentScore } from '../model/store.ts';
import { past, time } from './agent-row.ts';

export async function saveScore(client: pg.ClientBase, host: string, score: Score): Promise<void> {
  await client.query(
    `INSERT INTO scores (incident_id, host, agent, check_name, opened_at, ended_at, ending)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (incident_id) DO UPDATE SET ended_at = excluded.ended_at, ending = excluded.ending
     WHERE scores.ending <> 'human-denied'`,
    [score.incident, host, score.agent, score.check, time(score.openedMs), time(score.endedMs), score.ending],
  );
}

interface ScoreRow {
  incident_id: string;
  agent: string | null;
  check_name: CheckName;
  subject: string | null;
  opened_at: Date;
  ended_at: Date;
  ending: Ending;
}

export async function recentScores(client: pg.ClientBase, host: string, afterMs: number): Promise<RecentScore[]> {
  const rows = await client.query<ScoreRow>(
    `SELECT s.*, i.subject FROM scores s LEFT JOIN incidents i ON i.id = s.incident_id
     WHERE s.host = $1 AND s.ended_at > $2 ORDER BY s.ended_at`,
    [host, time(afterMs)],
  );
  return rows.rows.map((row) => ({
    incident: row.incident_id,
    agent: row.agent,
    check: row.check_name,
    subject: row.subject,
    openedMs: past(row.opened_at),
    endedMs: past(row.ended_at),
    ending: row.ending,
  }));
}

/** One check's findings, counted by how they ended; null: not yet. */
export interface CheckTally {
  check: CheckName;
  ending: Ending | null;
  count: number;
}

export async function tallyScores(
  client: pg.ClientBase,
  host: string,
  sinceMs: number,
): Promise<{ tallies: CheckTally[]; medianOpenMs: Map<CheckName, number> }> {
  const given = [host, time(sinceMs)];
  const tallies = await client.query<CheckTally>(
    `SELECT check_name AS check, ending, count(*)::int AS count FROM scores
     WHERE host = $1 AND opened_at >= $2 GROUP BY check_name, ending
     UNION ALL
     SELECT i.check_name, NULL, count(*)::int FROM incidents i LEFT JOIN agents a ON a.id = i.agent_id
     WHERE coalesce(a.host, i.host) = $1 AND i.opened_at >= $2 AND i.closed_at IS NULL
       AND NOT EXISTS (SELECT FROM scores s WHERE s.incident_id = i.id)
     GROUP BY i.check_name`,
    given,
  );
  const medians = await client.query<{ check: CheckName; ms: number }>(
    `SELECT check_name AS check,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM ended_at - opened_at)::float8 * 1000) AS ms
     FROM scores WHERE host = $1 AND opened_at >= $2 GROUP BY check_name`,
    given,
  );
  return { tallies: tallies.rows, medianOpenMs: new Map(medians.rows.map(({ check, ms }) => [check, ms])) };
}
