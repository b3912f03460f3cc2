import type pg from 'pg';
import type {
  Handoff,
  HandoffAction,
  HandoffChange,
  HandoffDeed,
  HandoffStep,
  HandoffStepTaken,
} from '../model/handoff.ts';
import { past, time } from './agent-row.ts';

/** Handoffs: a row for each, a further one for every step, and the document in the same transaction as its step. */

export async function beginHandoff(client: pg.ClientBase, host: string, handoff: Handoff): Promise<void> {
  const written = await client.query(
    `INSERT INTO handoffs (id, agent_id, project, trigger, recipe, nonce, file, cwd, old_session, requested_at, step)
     SELECT $1, a.id, $2, $3, $4, $5, $6, $7, $8, $9, $10 FROM agents a WHERE a.host = $11 AND a.name = $12`,
    [
      handoff.id,
      handoff.project,
      handoff.trigger,
      handoff.recipe,
      handoff.nonce,
      handoff.file,
      handoff.cwd,
      handoff.oldSession,
      time(handoff.requestedMs),
      'requested',
      host,
      handoff.agent,
    ],
  );
  if (written.rowCount !== 1) throw new Error(`agent ${handoff.agent} is not on record`);
  for (const taken of handoff.steps) await addStep(client, handoff.id, taken);
}

/** From the step it stands at, or not at all. */
export async function takeHandoffStep(
  client: pg.ClientBase,
  id: string,
  from: HandoffStep,
  taken: HandoffStepTaken,
  change: HandoffChange,
): Promise<void> {
  const updated = await client.query(
    `UPDATE handoffs SET step = $3, new_session = coalesce($4, new_session), sent_back = coalesce($5, sent_back),
       document = coalesce($6, document), sha256 = coalesce($7, sha256), file = coalesce($8, file)
     WHERE id = $1 AND step = $2`,
    [
      id,
      from,
      taken.step,
      change.newSession ?? null,
      change.sentBack ?? null,
      change.document?.text ?? null,
      change.document?.sha256 ?? null,
      change.file ?? null,
    ],
  );
  if (updated.rowCount !== 1) throw new Error(`handoff ${id} does not stand at ${from}`);
  await addStep(client, id, taken);
}

async function addStep(client: pg.ClientBase, id: string, { step, atMs, reason }: HandoffStepTaken): Promise<void> {
  await client.query('INSERT INTO handoff_steps (handoff_id, step, at, reason) VALUES ($1, $2, $3, $4)', [
    id,
    step,
    time(atMs),
    reason,
  ]);
}

interface HandoffRow {
  id: string;
  agent: string;
  project: string;
  trigger: Handoff['trigger'];
  recipe: string;
  nonce: string;
  file: string;
  cwd: string;
  old_session: string;
  new_session: string | null;
  requested_at: Date;
  sent_back: number;
  sha256: string | null;
  acked: boolean;
  steps: { step: HandoffStep; at: string; reason: string | null }[] | null;
}

/** The newest, oldest first, and every one that is open. */
export async function readHandoffs(
  client: pg.ClientBase,
  host: string,
  filter: { agent: string | null; afterMs: number; limit: number },
): Promise<Handoff[]> {
  const rows = await client.query<HandoffRow>(
    `SELECT * FROM (
       SELECT h.*, a.name AS agent, (SELECT jsonb_agg(jsonb_build_object('step', s.step, 'at', s.at, 'reason', s.reason) ORDER BY s.id)
          FROM handoff_steps s WHERE s.handoff_id = h.id) AS steps,
         EXISTS (SELECT 1 FROM incidents i WHERE i.agent_id = h.agent_id AND i.check_name = 'handoff-failed'
           AND i.subject = h.id::text AND i.acked_at IS NOT NULL) AS acked
       FROM handoffs h JOIN agents a ON a.id = h.agent_id
       WHERE a.host = $1 AND ($2::text IS NULL OR a.name = $2) AND (h.requested_at > $3 OR h.step NOT IN ('done', 'failed'))
       ORDER BY h.requested_at DESC LIMIT $4) newest ORDER BY requested_at`,
    [host, filter.agent, time(filter.afterMs), filter.limit],
  );
  return rows.rows.map((row) => ({
    id: row.id,
    agent: row.agent,
    project: row.project,
    trigger: row.trigger,
    recipe: row.recipe,
    nonce: row.nonce,
    file: row.file,
    cwd: row.cwd,
    oldSession: row.old_session,
    newSession: row.new_session,
    requestedMs: past(row.requested_at),
    steps: (row.steps ?? []).map(({ step, at, reason }) => ({ step, atMs: past(new Date(at)), reason })),
    sha256: row.sha256,
    sentBack: row.sent_back,
    acked: row.acked,
  }));
}

export async function handoffText(client: pg.ClientBase, id: string): Promise<string | null> {
  const found = await client.query<{ document: string | null }>('SELECT document FROM handoffs WHERE id = $1', [id]);
  return found.rows[0]?.document ?? null;
}

/** What was done for a handoff, oldest first. */
export async function handoffActions(client: pg.ClientBase, id: string): Promise<HandoffAction[]> {
  const rows = await client.query<{
    id: string;
    at: Date;
    deed: HandoffDeed;
    after: number | null;
    why: string | null;
    text: string | null;
    tag: string | null;
    outcomes: { outcome: string; reason: string | null }[] | null;
  }>(
    `SELECT a.id, a.at, a.intent->>'deed' AS deed, (a.intent->>'after')::integer AS after, a.intent->>'why' AS why,
       coalesce(a.intent->>'text', a.intent->>'command') AS text, a.intent->>'tag' AS tag,
       (SELECT jsonb_agg(jsonb_build_object('outcome', o.outcome, 'reason', o.reason) ORDER BY o.id)
        FROM action_outcomes o WHERE o.action_id = a.id) AS outcomes
     FROM actions a WHERE a.intent ? 'handoff' AND a.intent->>'handoff' = $1 ORDER BY a.at`,
    [id],
  );
  return rows.rows.map((row) => ({
    id: row.id,
    deed: row.deed,
    after: row.after ?? 0,
    why: row.why,
    atMs: past(row.at),
    outcomes: row.outcomes ?? [],
    typed: row.text === null || row.tag === null ? row.text : `${row.text} [${row.tag}]`,
  }));
}
