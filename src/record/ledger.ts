import type pg from 'pg';
import { z } from 'zod';
import type { Action, ActionOutcome, LedgerEntry, Trigger } from '../model/action.ts';
import type { Json } from '../model/event.ts';
import { time } from '../model/time.ts';
import type { ProcessId } from '../model/world.ts';
import { noteOutcome } from './action-taken.ts';
import { isAlive, ownProcess } from './own-process.ts';
import {
  exact,
  json,
  jsonObject,
  leftOut,
  matching,
  moment,
  type OddRow,
  sound,
  texts,
  words,
  writtenMoment,
} from './rows.ts';

/** The ledger: an action is written before it is done, its outcomes after. Rows are only ever added. */

export async function intend(client: pg.ClientBase, action: Action): Promise<void> {
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
      action.host,
      action.agent,
    ],
  );
  if (written.rowCount !== 1) throw new Error(`agent ${action.agent} is not on record`);
}

export async function storeWord(client: pg.ClientBase, word: Action): Promise<void> {
  const { id, atMs, kind, trigger, intent, host } = word;
  const written = await client.query(
    `INSERT INTO actions (id, at, kind, trigger, intent, host) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING`,
    [id, time(atMs), kind, trigger, JSON.stringify(intent), host],
  );
  if (written.rowCount === 1)
    await conclude(client, { actionId: id, atMs, outcome: 'confirmed', reason: null, proof: null });
}

export async function conclude(client: pg.ClientBase, outcome: ActionOutcome): Promise<void> {
  // One whose commit was not acknowledged comes again.
  await client.query(
    `INSERT INTO action_outcomes (action_id, at, outcome, reason, proof) SELECT $1, $2, $3, $4, $5
     WHERE NOT EXISTS (SELECT FROM action_outcomes WHERE (action_id, at, outcome) = ($1, $2, $3))`,
    [
      outcome.actionId,
      time(outcome.atMs),
      outcome.outcome,
      outcome.reason,
      outcome.proof === null ? null : JSON.stringify(outcome.proof),
    ],
  );
  await noteOutcome(client, outcome);
}

/** Of one agent. The bound also has the rows looked up agent by agent, however long the ledger. */
const openMax = 1_000;

/**
 * Deeds without their last word: nobody knows yet whether they were done, or what was answered. Of the last day, by the clock
 * that wrote them: with one that has been set since, none of yesterday is taken for one of long ago.
 */
export async function openActions(
  client: pg.ClientBase,
  host: string,
  odd: OddRow,
): Promise<{ action: Action; delivered: boolean }[]> {
  const rows = await client.query(
    `SELECT s.*, o.count > 0 AS delivered
     FROM (SELECT ${actionColumns} FROM agents g
       CROSS JOIN LATERAL (SELECT at FROM actions WHERE agent_id = g.id ORDER BY at DESC LIMIT 1) newest
       CROSS JOIN LATERAL (
         SELECT * FROM actions WHERE agent_id = g.id AND at > least(now(), newest.at) - interval '1 day'
           ORDER BY at DESC LIMIT ${openMax}) a
       WHERE g.host = $1
       UNION ALL
       (SELECT ${actionColumns} FROM actions a LEFT JOIN agents g ON false
        WHERE a.agent_id IS NULL AND a.host = $1 AND a.at > now() - interval '1 day' ORDER BY a.at DESC LIMIT ${openMax})) s
     CROSS JOIN LATERAL (SELECT count(*), bool_or(outcome NOT IN ('confirmed', 'queued', 'reacted')) AS is_over
       FROM action_outcomes WHERE action_id = s.id) o
     WHERE o.is_over IS NOT TRUE
     ORDER BY s.at`,
    [host],
  );
  const read = sound('actions', openShape, rows.rows, odd);
  return read
    .filter(({ intent }) => !isAnothers(intent.daemon))
    .map(({ delivered, ...row }) => ({ action: toAction(host, row), delivered }));
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
  const ofKind = filter.kind === null ? '' : ' AND kind = $4';
  const rows = await client.query(
    `SELECT s.*, (SELECT left(i.subject, 1000) FROM incidents i WHERE i.id = ${findingId}) AS subject, ${outcomesOf('s')}
     FROM (
       SELECT * FROM (
         SELECT ${actionColumns} FROM agents g CROSS JOIN LATERAL (
           SELECT * FROM actions WHERE agent_id = g.id${ofKind} ORDER BY at DESC LIMIT $2) a
         WHERE g.host = $1 AND ($3::text IS NULL OR g.name = $3)
         UNION ALL
         (SELECT ${actionColumns} FROM actions a LEFT JOIN agents g ON false
          WHERE a.agent_id IS NULL AND $3::text IS NULL AND a.host = ANY (${hostNames})${ofKind} ORDER BY at DESC LIMIT $2)
       ) both_kinds ORDER BY at DESC LIMIT $2) s ORDER BY s.at`,
    [host, filter.limit, filter.agent, ...(filter.kind === null ? [] : [filter.kind])],
  );
  return sound('actions', entryShape, rows.rows, leftOut).map(({ subject, outcomes, ...row }) => ({
    ...toAction(host, row),
    subject,
    outcomes: outcomes.map(({ at, ...outcome }) => ({ ...outcome, atMs: at })),
  }));
}

const actionColumns = `a.id, a.at, ${texts('g', 'name')}, ${texts('a', 'kind', 'trigger', 'finding')}, ${json('a', 'intent')}`;
/** Rows of no agent from before there were ids are under the host's name: the ledger only grows. */
const hostNames = 'ARRAY(SELECT unnest(ARRAY[h.id, h.was]) FROM hosts h WHERE h.id = $1)';
/** Mostly an incident's. */
const findingId = "CASE WHEN s.finding ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN s.finding::uuid END";
const outcomesMax = 100;

/** The first outcomes of an action, oldest first. */
export function outcomesOf(action: string): string {
  return `(SELECT jsonb_agg(jsonb_build_object('at', o.at, 'outcome', o.outcome, 'reason', o.reason, 'proof', o.proof) ORDER BY o.id)
     FROM (SELECT o.id, o.at, ${texts('o', 'outcome', 'reason')}, ${json('o', 'proof')} FROM action_outcomes o
           WHERE o.action_id = ${action}.id ORDER BY o.id LIMIT ${outcomesMax}) o) AS outcomes`;
}

const outcomeShape = z.object({
  at: writtenMoment,
  outcome: words(100),
  reason: words(500).nullable(),
  proof: jsonObject.nullable().catch(null),
});

/** What the ledger says of an action; a word of it that is none is left out. */
export const outcomesShape = z
  .array(z.unknown())
  .nullable()
  .transform((all) => sound('action_outcomes', outcomeShape, all ?? [], leftOut));

export const tag = matching(/^wk-n?[0-9a-f]{4,16}$/);

const actionShape = z.object({
  id: z.string(),
  at: moment,
  name: exact().nullable(),
  kind: z.custom<Action['kind']>((value) => typeof value === 'string' && /^[a-z][a-z-]{0,39}$/.test(value)),
  trigger: z.custom<Trigger>((value) => typeof value === 'string' && /^[a-z]{1,20}(:[a-z-]{1,50})?$/.test(value)),
  intent: jsonObject,
  finding: exact(100).nullable(),
});

const openShape = actionShape
  .extend({ delivered: z.boolean() })
  .refine(({ intent }) => tag.optional().safeParse(intent.tag).success, 'no tag of ours');

const entryShape = actionShape.extend({ subject: words(1_000).nullable(), outcomes: outcomesShape });

function toAction(host: string, { at, name, ...row }: z.infer<typeof actionShape>): Action {
  return { ...row, atMs: at, host, agent: name };
}
