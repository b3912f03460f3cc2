import type pg from 'pg';
import type { Action, ActionOutcome, LedgerEntry, Trigger } from '../model/action.ts';
import type { Json } from '../model/event.ts';
import type { ProcessId } from '../model/world.ts';
import { time } from './agent-row.ts';
import { isAlive, ownProcess } from './own-process.ts';

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
      JSON.stringify({ ...action.intent, daemon: ownProcess() }),
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

/** Prompts without their last word: nobody knows yet whether they arrived, or what was answered. */
export async function openActions(
  client: pg.ClientBase,
  host: string,
): Promise<{ action: Action; delivered: boolean }[]> {
  const rows = await client.query<ActionRow & { delivered: boolean }>(
    `SELECT s.*, EXISTS (SELECT FROM action_outcomes o WHERE o.action_id = s.id) AS delivered
     FROM (${selectActions} WHERE g.host = $1 AND a.kind IN ('prompt', 'command', 'interrupt') AND a.at > now() - interval '1 day') s
     WHERE NOT EXISTS (SELECT FROM action_outcomes o WHERE o.action_id = s.id AND o.outcome NOT IN ('confirmed', 'queued'))
     ORDER BY s.at`,
    [host],
  );
  return rows.rows
    .filter(({ intent }) => !isAnothers(intent.daemon))
    .map((row) => ({ action: toAction(row), delivered: row.delivered }));
}

/** One that lives, on the same database: it is still at it. */
function isAnothers(daemon: Json | undefined): boolean {
  const { bootId, pid, startTicks } = { ...(daemon as object | null) } as Partial<ProcessId>;
  if (typeof bootId !== 'string' || typeof pid !== 'number' || typeof startTicks !== 'string') return false;
  return pid !== process.pid && isAlive({ bootId, pid, startTicks });
}

/** The newest entries, newest last. */
export async function readLedger(
  client: pg.ClientBase,
  host: string,
  filter: { agent: string | null; kind: string | null; limit: number },
): Promise<LedgerEntry[]> {
  const rows = await client.query<ActionRow & { subject: string | null; outcomes: OutcomeRow[] | null }>(
    `SELECT s.*, (SELECT i.subject FROM incidents i WHERE i.id::text = s.finding) AS subject, (SELECT jsonb_agg(jsonb_build_object('at', o.at, 'outcome', o.outcome, 'reason', o.reason, 'proof', o.proof) ORDER BY o.id)
                  FROM action_outcomes o WHERE o.action_id = s.id) AS outcomes
     FROM (${selectActions} WHERE coalesce(g.host, a.host) = $1 AND ($2::text IS NULL OR g.name = $2) AND ($3::text IS NULL OR a.kind = $3)
           ORDER BY a.at DESC LIMIT $4) s ORDER BY s.at`,
    [host, filter.agent, filter.kind, filter.limit],
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

const selectActions =
  'SELECT a.id, a.at, g.name AS agent, a.kind, a.trigger, a.intent, a.finding FROM actions a LEFT JOIN agents g ON g.id = a.agent_id';

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
  return { id, atMs: at.getTime(), agent, kind, trigger, intent, finding };
}
