import path from 'node:path';
import type pg from 'pg';
import { z } from 'zod';
import {
  type Handoff,
  type HandoffAction,
  type HandoffChange,
  type HandoffStep,
  type HandoffStepTaken,
  handoffDeeds,
  handoffSteps,
  type OddHandoff,
} from '../model/handoff.ts';
import { documentBytesMax } from '../model/handoff-file.ts';
import { time } from '../model/time.ts';
import { outcomesOf, outcomesShape, tag } from './ledger.ts';
import {
  caller,
  count,
  exact,
  json,
  leftOut,
  matching,
  moment,
  type OddRow,
  place,
  sessionId,
  sound,
  texts,
  words,
  writtenMoment,
} from './rows.ts';

const actionsMax = 1_000;

/** Handoffs: a row for each, a further one for every step, and the document in the same transaction as its step. */

export async function beginHandoff(client: pg.ClientBase, handoff: Handoff): Promise<void> {
  const written = await client.query(
    `INSERT INTO handoffs (id, agent_id, project, trigger, recipe, nonce, file, cwd, old_session, requested_at, step, asked_by)
     SELECT $1, a.id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $13 FROM agents a WHERE a.host = $11 AND a.name = $12`,
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
      handoff.host,
      handoff.agent,
      handoff.by,
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

const step = z.enum(handoffSteps);
const afterClear: readonly HandoffStep[] = ['cleared', 'resumed', 'confirmed', 'done'];
const stepsMax = 200;

const handoffShape = z
  .object({
    id: z.string(),
    name: exact(),
    project: words(200),
    trigger: z.custom<Handoff['trigger']>(
      (value) => typeof value === 'string' && /^(human|rule:[a-z-]{1,50})$/.test(value),
    ),
    recipe: matching(/^[A-Za-z0-9._-]{1,64}$/),
    asked_by: caller.nullable().catch(null),
    nonce: matching(/^[0-9a-f]{8}$/),
    file: place,
    cwd: exact(4_096).refine((text) => path.isAbsolute(text), 'no place'),
    old_session: sessionId,
    new_session: sessionId.nullable(),
    requested_at: moment,
    step,
    sent_back: count,
    sha256: matching(/^[0-9a-f]{64}$/).nullable(),
    acked: z.boolean(),
    steps: z.array(z.object({ step, at: writtenMoment, reason: words(200).nullable() })).max(stepsMax),
  })
  .refine(({ steps }) => steps[0]?.step === 'requested', 'it was never requested')
  .refine((row) => row.steps.at(-1)?.step === row.step, 'its last step is another one')
  .refine(({ steps }) => {
    const saved = steps.findIndex((taken) => taken.step === 'saved');
    return steps.every((taken, index) => !afterClear.includes(taken.step) || (saved !== -1 && saved < index));
  }, 'it was cleared before anything was stored')
  .refine(({ recipe, file }) => recipe !== ownRecipe || ownName.test(path.basename(file)), 'its file is none of ours');

const ownRecipe = 'document';
/** As `handoffFile` names them. */
const ownName = /^handoff-\d{4}(-\d\d){5}\.md$/;

interface Filter {
  agent: string | null;
  /** null: only those that are open. */
  afterMs: number | null;
  limit: number;
}

async function handoffRows(client: pg.ClientBase, host: string, filter: Filter): Promise<unknown[]> {
  const rows = await client.query(
    `SELECT * FROM (
       SELECT h.id, h.requested_at, h.sent_back, ${texts('a', 'name')},
         ${texts('h', 'project', 'trigger', 'recipe', 'nonce', 'file', 'cwd', 'old_session', 'new_session', 'step', 'sha256', 'asked_by')},
         (SELECT jsonb_agg(jsonb_build_object('step', s.step, 'at', s.at, 'reason', s.reason) ORDER BY s.id)
          FROM (SELECT s.id, s.at, ${texts('s', 'step', 'reason')} FROM handoff_steps s
                WHERE s.handoff_id = h.id ORDER BY s.id LIMIT ${stepsMax + 1}) s) AS steps,
         EXISTS (SELECT 1 FROM incidents i WHERE i.agent_id = h.agent_id AND i.check_name = 'handoff-failed'
           AND i.subject = h.id::text AND i.acked_at IS NOT NULL) AS acked
       FROM handoffs h JOIN agents a ON a.id = h.agent_id
       WHERE a.host = $1 AND ($2::text IS NULL OR a.name = $2) AND (h.requested_at > $3 OR h.step NOT IN ('done', 'failed'))
       ORDER BY h.requested_at DESC LIMIT $4) newest ORDER BY requested_at`,
    [host, filter.agent, time(filter.afterMs) ?? 'infinity', filter.limit],
  );
  return rows.rows;
}

const nameShape = z.object({ id: z.string(), name: exact() });

/** Those that `readHandoffs` leaves out, although they say that they are open. */
export async function oddHandoffs(client: pg.ClientBase, host: string, limit: number): Promise<OddHandoff[]> {
  const rows = await handoffRows(client, host, { agent: null, afterMs: null, limit });
  const odd = rows.filter((row) => !handoffShape.safeParse(row).success);
  return sound('handoffs', nameShape, odd, leftOut).map(({ id, name }) => ({ id, agent: name }));
}

export async function endOddHandoff(client: pg.ClientBase, id: string, atMs: number): Promise<void> {
  const ended = await client.query(
    "UPDATE handoffs SET step = 'failed' WHERE id = $1 AND step NOT IN ('done', 'failed')",
    [id],
  );
  if (ended.rowCount === 1) await addStep(client, id, { step: 'failed', atMs, reason: 'untrusted' });
}

/** The newest, oldest first, and every one that is open. */
export async function readHandoffs(
  client: pg.ClientBase,
  host: string,
  filter: Filter,
  odd: OddRow = leftOut,
): Promise<Handoff[]> {
  const rows = await handoffRows(client, host, filter);
  return sound('handoffs', handoffShape, rows, odd).map((row) => ({
    id: row.id,
    host,
    agent: row.name,
    project: row.project,
    trigger: row.trigger,
    by: row.asked_by,
    recipe: row.recipe,
    nonce: row.nonce,
    file: row.file,
    cwd: row.cwd,
    oldSession: row.old_session,
    newSession: row.new_session,
    requestedMs: row.requested_at,
    steps: row.steps.map(({ step: taken, at, reason }) => ({ step: taken, atMs: at, reason })),
    sha256: row.sha256,
    sentBack: row.sent_back,
    acked: row.acked,
  }));
}

/** As it was stored, or null: larger than any that was. */
export async function handoffText(client: pg.ClientBase, id: string): Promise<string | null> {
  // What is no text in the file may take three times its bytes once it is one.
  const found = await client.query<{ document: string | null }>(
    'SELECT CASE WHEN octet_length(document) <= $2 THEN document END AS document FROM handoffs WHERE id = $1',
    [id, 3 * documentBytesMax],
  );
  return found.rows[0]?.document ?? null;
}

const actionShape = z.object({
  id: z.string(),
  at: moment,
  outcomes: outcomesShape,
  intent: z.object({
    deed: z.enum(handoffDeeds),
    after: count,
    why: words(2_000).nullish(),
    text: exact(5_000).optional(),
    command: exact(5_000).optional(),
    // Only what may still be in the box is known by it: what was done stays done without.
    tag: tag.optional().catch(undefined),
  }),
});

/** What was done for a handoff, oldest first. What another agent's row says of it is nothing. */
export async function handoffActions(client: pg.ClientBase, id: string, odd: OddRow): Promise<HandoffAction[]> {
  const rows = await client.query(
    `SELECT a.id, a.at, ${json('a', 'intent')}, ${outcomesOf('a')}
     FROM actions a WHERE a.intent ? 'handoff' AND a.intent->>'handoff' = $1
       AND a.agent_id = (SELECT agent_id FROM handoffs WHERE id = $1::uuid) ORDER BY a.at LIMIT ${actionsMax}`,
    [id],
  );
  return sound('actions', actionShape, rows.rows, odd).map(({ id: action, at, outcomes, intent }) => {
    const text = intent.text ?? intent.command ?? null;
    return {
      id: action,
      deed: intent.deed,
      after: intent.after,
      why: intent.why ?? null,
      atMs: at,
      outcomes: outcomes.map(({ outcome, reason }) => ({ outcome, reason })),
      typed: text === null || intent.tag === undefined ? text : `${text} [${intent.tag}]`,
    };
  });
}
