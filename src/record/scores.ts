import type pg from 'pg';
import { z } from 'zod';
import type { CheckName } from '../model/check.ts';
import { type Ending, endings, type Score } from '../model/score.ts';
import type { RecentScore } from '../model/store.ts';
import { time } from '../model/time.ts';
import { checkName, count, exact, leftOut, moment, type OddRow, sound, texts } from './rows.ts';

export async function saveScore(client: pg.ClientBase, score: Score): Promise<void> {
  await client.query(
    `INSERT INTO scores (incident_id, host, agent, check_name, opened_at, ended_at, ending)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (incident_id) DO UPDATE SET ended_at = excluded.ended_at, ending = excluded.ending
     WHERE scores.ending <> 'human-denied'`,
    [score.incident, score.host, score.agent, score.check, time(score.openedMs), time(score.endedMs), score.ending],
  );
}

const ending = z.enum(endings);

const scoreShape = z.object({
  incident_id: z.string(),
  agent: exact().nullable(),
  check_name: checkName,
  subject: exact(1_000).nullable(),
  opened_at: moment,
  ended_at: moment,
  ending,
});

const recentMax = 10_000;

export async function recentScores(
  client: pg.ClientBase,
  host: string,
  afterMs: number,
  odd: OddRow,
): Promise<RecentScore[]> {
  const rows = await client.query(
    `SELECT s.incident_id, s.opened_at, s.ended_at, ${texts('s', 'agent', 'check_name', 'ending')}, ${texts('i', 'subject')}
     FROM scores s LEFT JOIN incidents i ON i.id = s.incident_id
     WHERE s.host = $1 AND s.ended_at > $2 ORDER BY s.ended_at LIMIT ${recentMax}`,
    [host, time(afterMs)],
  );
  return sound('scores', scoreShape, rows.rows, odd, ({ incident_id }) => incident_id).map((row) => ({
    incident: row.incident_id,
    host,
    agent: row.agent,
    check: row.check_name,
    subject: row.subject,
    openedMs: row.opened_at,
    endedMs: row.ended_at,
    ending: row.ending,
  }));
}

/** One check's findings, counted by how they ended; null: not yet. */
export interface CheckTally {
  check: CheckName;
  ending: Ending | null;
  count: number;
}

const tallyShape = z.object({ check: checkName, ending: ending.nullable(), count });
const medianShape = z.object({ check: checkName, ms: z.number() });

export async function tallyScores(
  client: pg.ClientBase,
  host: string,
  sinceMs: number,
): Promise<{ tallies: CheckTally[]; medianOpenMs: Map<CheckName, number> }> {
  const given = [host, time(sinceMs)];
  const tallies = await client.query(
    `SELECT check_name AS check, ending, count(*)::int AS count FROM scores
     WHERE host = $1 AND opened_at >= $2 GROUP BY check_name, ending
     UNION ALL
     SELECT i.check_name, NULL, count(*)::int FROM incidents i LEFT JOIN agents a ON a.id = i.agent_id
     WHERE coalesce(a.host, i.host) = $1 AND i.opened_at >= $2 AND i.closed_at IS NULL
       AND NOT EXISTS (SELECT FROM scores s WHERE s.incident_id = i.id)
     GROUP BY i.check_name`,
    given,
  );
  const medians = await client.query(
    `SELECT check_name AS check,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM ended_at - opened_at)::float8 * 1000) AS ms
     FROM scores WHERE host = $1 AND opened_at >= $2 GROUP BY check_name`,
    given,
  );
  const byCheck = ({ check }: { check: unknown }) => check;
  const known = sound('scores', medianShape, medians.rows, leftOut, byCheck);
  return {
    tallies: sound('scores', tallyShape, tallies.rows, leftOut, byCheck),
    medianOpenMs: new Map(known.map(({ check, ms }) => [check, ms])),
  };
}
