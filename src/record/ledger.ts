import type pg from 'pg';
import type { Action, ActionOutcome, LedgerEntry, Trigger } from '../model/action.ts';
import type { Json } from '../model/event.ts';
import { past, time } from './agent-row.ts';

/** The ledger: an action is written before it is done, its outcomes after. Rows are only ever added. */

export async function intend(client: pg.ClientBase, host: string, action: Action): Promise<void> {
  const written = await client.query(
    `INSERT INTO actions (id, at, agent_id, kind, trigger, intent, finding, host)
     SELECT $1, $2, a.id, $3, $4, $5, $6, $7
     FROM (SELECT 1) one LEFT JOIN agents a ON a.host = $7 AND a.name = $8 WHERE a.id IS NOT NULL OR $8::text IS NULL`,
    [
      action.id,
      time(action.atMs),
      action.kind,
      action.trigger,
      JSON.stringify(action.intent),
      action.finding,
      host,
      action.agent,
    ],
  );
  if (written.rowCount !== 1) throw new Error(`agent ${action.agent} is not on record`);
}

export async function conclude(client: pg.ClientBase, outcome: ActionOutcome): Promise<void> {
  await client.query(
    'INSERT INTO action_outcomes (action_id, at, outcome, reason, proof) VALUES ($1, $2, $3, $4, $5)',
    [
      outcome.actionId,
      time(outcome.atMs),
      outcome.outcome,
      outcome.reason,
      outcome.proof === null ? null : JSON.stringify(outcome.proof),
    ],
  );
}

/** Of one agent. The bound also has the rows looked up agent by agent, however long the ledger. */
const openMax = 1_000;

/**
 * Prompts without their last word: nobody knows yet whether they arrived, or what was answered. Of the last day, by the clock
 * that wrote them: with one that has been set since, none of yesterday is taken for one of long ago.
 */
export async function openActions(
  client: pg.ClientBase,
  host: string,
): Promise<{ action: Action; delivered: boolean }[]> {
  const rows = await client.query<ActionRow & { delivered: boolean }>(
    `SELECT s.*, o.count > 0 AS delivered
     FROM (SELECT ${actionColumns} FROM agents g
       CROSS JOIN LATERAL (SELECT at FROM actions WHERE agent_id = g.id ORDER BY at DESC LIMIT 1) newest
       CROSS JOIN LATERAL (
         SELECT * FROM actions WHERE agent_id = g.id AND at > least(now(), newest.at) - interval '1 day'
           AND kind IN ('prompt', 'command', 'interrupt') ORDER BY at DESC LIMIT ${openMax}) a
       WHERE g.host = $1) s
     CROSS JOIN LATERAL (SELECT count(*), bool_or(outcome NOT IN ('confirmed', 'queued')) AS is_over
       FROM action_outcomes WHERE action_id = s.id) o
     WHERE o.is_over IS NOT TRUE
     ORDER BY s.at`,
    [host],
  );
  return rows.rows.map((row) => ({ action: toAction(row), delivered: row.delivered }));
}

/** The newest entries, newest last. */
export async function readLedger(
  client: pg.ClientBase,
  host: string,
  filter: { agent: string | null; kind: string | null; limit: number },
): Promise<LedgerEntry[]> {
  const ofKind = filter.kind === null ? '' : ' AND kind = $4';
  const rows = await client.query<ActionRow & { subject: string | null; outcomes: OutcomeRow[] | null }>(
    `SELECT s.*, (SELECT i.subject FROM incidents i WHERE i.id = ${findingId}) AS subject, (SELECT jsonb_agg(jsonb_build_object('at', o.at, 'outcome', o.outcome, 'reason', o.reason, 'proof', o.proof) ORDER BY o.id)
                  FROM action_outcomes o WHERE o.action_id = s.id) AS outcomes
     FROM (
       SELECT * FROM (
         SELECT ${actionColumns} FROM agents g CROSS JOIN LATERAL (
           SELECT * FROM actions WHERE agent_id = g.id${ofKind} ORDER BY at DESC LIMIT $2) a
         WHERE g.host = $1 AND ($3::text IS NULL OR g.name = $3)
         UNION ALL
         (SELECT ${actionColumns.replace('g.name', 'NULL')} FROM actions a
          WHERE a.agent_id IS NULL AND $3::text IS NULL AND a.host = ANY (${hostNames})${ofKind} ORDER BY at DESC LIMIT $2)
       ) both_kinds ORDER BY at DESC LIMIT $2) s ORDER BY s.at`,
    [host, filter.limit, filter.agent, ...(filter.kind === null ? [] : [filter.kind])],
  );
  return rows.rows.map((row) => ({
    ...toAction(row),
    subject: row.subject,
    outcomes: (row.outcomes ?? []).map(({ at, outcome, reason, proof }) => ({
      atMs: Date.parse(at),
      outcome,
      reason,
      proof,
    })),
  }));
}

const actionColumns = 'a.id, a.at, g.name AS agent, a.kind, a.trigger, a.intent, a.finding';
/** Rows of no agent from before there were ids are under the host's name: the ledger only grows. */
const hostNames = 'ARRAY(SELECT unnest(ARRAY[h.id, h.was]) FROM hosts h WHERE h.id = $1)';
/** Mostly an incident's. */
const findingId = "CASE WHEN s.finding ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN s.finding::uuid END";

interface ActionRow {
  id: string;
  at: Date;
  agent: string | null;
  kind: Action['kind'];
  trigger: Trigger;
  intent: { [key: string]: Json };
  finding: string | null;
}

interface OutcomeRow {
  at: string;
  outcome: string;
  reason: string | null;
  proof: { [key: string]: Json } | null;
}

function toAction(row: ActionRow): Action {
  const { id, at, agent, kind, trigger, intent, finding } = row;
  return { id, atMs: past(at), agent, kind, trigger, intent, finding };
}
