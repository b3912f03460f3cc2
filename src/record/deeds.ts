import type pg from 'pg';
import type { AnsweredPrompts, Deeds, RulePrompt } from '../model/deeds.ts';
import { time } from '../model/time.ts';

/** A row with no time of ours counts as done just now: nothing is said more often because of it. */
const at = 'CASE WHEN isfinite(a.at) THEN least(a.at, now()) ELSE now() END';
const textCharsMax = 5_000;

/**
 * What the ledger says was done about each of these findings. A prompt counts unless it was refused: one whose outcome
 * nobody knows may have arrived. A message counts once it was told: one of which nobody knows is told again.
 */
export async function deedsAbout(client: pg.ClientBase, findings: readonly string[]): Promise<Map<string, Deeds>> {
  const rows = await client.query<DeedRow>(
    `WITH about AS (
       SELECT a.finding, a.id, a.kind, ${at} AS at FROM actions a WHERE a.finding = ANY($1) AND a.kind IN ('prompt', 'notify')
       UNION
       SELECT f.finding, a.id, a.kind, ${at} AS at FROM unnest($1::text[]) f(finding)
         JOIN actions a ON a.intent ? 'findings' AND a.intent->'findings' ? f.finding WHERE a.kind = 'prompt'),
     judged AS (
       SELECT about.*, ARRAY(SELECT o.outcome FROM action_outcomes o WHERE o.action_id = about.id) AS outcomes FROM about)
     SELECT j.finding, j.kind, count(*)::integer AS count, max(j.at) AS last,
       bool_or(j.outcomes && ARRAY['confirmed', 'queued']) AS proved,
       array_agg(left(format('%s [%s]', a.intent->>'text', a.intent->>'tag'), ${textCharsMax}))
         FILTER (WHERE j.kind = 'prompt' AND NOT j.outcomes && ARRAY['confirmed', 'queued']) AS leftovers
     FROM judged j JOIN actions a ON a.id = j.id
     WHERE CASE j.kind WHEN 'prompt' THEN NOT 'refused' = ANY(j.outcomes) ELSE 'told' = ANY(j.outcomes) END
     GROUP BY j.finding, j.kind`,
    [findings],
  );
  const deeds = new Map<string, Deeds>();
  for (const { finding, kind, count, last, proved, leftovers } of rows.rows) {
    const known = deeds.get(finding) ?? nothing;
    const lastMs = last.getTime();
    if (kind === 'notify') deeds.set(finding, { ...known, tells: count, lastTellMs: lastMs });
    else {
      const prompted = { prompts: count, lastPromptMs: lastMs, isProved: proved, leftovers: leftovers ?? [] };
      deeds.set(finding, { ...known, ...prompted });
    }
  }
  return deeds;
}

const nothing: Deeds = {
  ...{ prompts: 0, lastPromptMs: null, isProved: false, leftovers: [] },
  ...{ tells: 0, lastTellMs: null },
};

interface DeedRow {
  finding: string;
  kind: 'prompt' | 'notify';
  count: number;
  last: Date;
  proved: boolean;
  leftovers: string[] | null;
}

/** For every agent and rule the last prompt after the given time that was not refused. */
export async function lastRulePrompts(client: pg.ClientBase, host: string, afterMs: number): Promise<RulePrompt[]> {
  const rows = await client.query<{ agent: string; project: string; trigger: `rule:${string}`; at: Date }>(
    `SELECT g.name AS agent, g.project, last.trigger, last.at FROM agents g CROSS JOIN LATERAL (
       SELECT a.trigger, max(${at}) AS at FROM actions a
       WHERE a.agent_id = g.id AND a.at > $2 AND a.kind = 'prompt' AND a.trigger LIKE 'rule:%'
         AND NOT EXISTS (SELECT FROM action_outcomes o WHERE o.action_id = a.id AND o.outcome = 'refused')
       GROUP BY a.trigger) last
     WHERE g.host = $1`,
    [host, time(afterMs)],
  );
  return rows.rows.map(({ agent, project, trigger, at }) => ({ host, agent, project, trigger, atMs: at.getTime() }));
}

const dayMs = 86_400_000;

/**
 * What was said to agents in the last day, and how much of it they took up within `answerMs` of the turn it began: by the
 * first word or call of the model, for work may go on for hours. Neither is an error an answer, nor silence; one whose time
 * is not over does not count yet, nor one that waits in the queue of an agent that lives.
 */
export async function answeredPrompts(
  client: pg.ClientBase,
  host: string,
  nowMs: number,
  answerMs: number,
): Promise<AnsweredPrompts> {
  const rows = await client.query<{ given: number; in_time: number }>(
    `SELECT count(*)::integer AS given, (count(*) FILTER (WHERE o.in_time))::integer AS in_time
     FROM agents g JOIN actions a ON a.agent_id = g.id AND a.kind = 'prompt' AND a.at > $2
     CROSS JOIN LATERAL (SELECT
         bool_or(outcome = 'refused') AS is_refused,
         coalesce(bool_or(jsonb_path_exists(proof, '$ ? (@.reacted_ms <= $max || @.answer_ms <= $max)', $4)), false) AS in_time,
         bool_or(outcome NOT IN ('confirmed', 'uncertain', 'queued') OR (outcome <> 'queued' AND at <= $3)) AS is_settled
       FROM action_outcomes WHERE action_id = a.id) o
     WHERE g.host = $1 AND NOT o.is_refused AND (o.is_settled OR g.state = 'ended')`,
    [host, time(nowMs - dayMs), time(nowMs - answerMs), JSON.stringify({ max: answerMs })],
  );
  const [{ given, in_time: inTime } = { given: 0, in_time: 0 }] = rows.rows;
  return { given, inTime };
}
