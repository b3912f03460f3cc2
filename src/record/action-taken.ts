import type pg from 'pg';
import type { ActionOutcome } from '../model/action.ts';

/** `action_taken` of `health_checks`: by the ledger alone, so that it says what was done and under which id. */

/** Of which nothing came, or not yet. */
const nothing: readonly string[] = ['refused', 'failed', 'reacted'];
/** A trouble of which people are told for months has a row that ends. */
const charsMax = 4_000;

/**
 * The rows of what the action was about: of its findings, and for the deeds of a handoff of the full context that the
 * handoff is there for.
 */
const noteAction = `
  WITH done AS (SELECT id, kind, agent_id, intent, finding FROM actions WHERE id = $1),
  about AS (
    SELECT finding FROM done WHERE finding IS NOT NULL
    UNION SELECT jsonb_array_elements_text(intent->'findings') FROM done WHERE jsonb_typeof(intent->'findings') = 'array'
    UNION SELECT i.id::text FROM done JOIN incidents i ON i.agent_id = done.agent_id
      WHERE done.intent ? 'handoff' AND i.check_name = 'context-full' AND i.closed_at IS NULL),
  taken AS (
    SELECT h.id, h.action_taken AS before, format('%s: %s, action %s', CASE done.kind
      WHEN 'prompt' THEN CASE h.check_type WHEN 'spawn' THEN 'prompted parent' ELSE 'prompted agent' END
      WHEN 'notify' THEN 'told human'
      WHEN 'interrupt' THEN 'interrupted agent'
      WHEN 'command' THEN 'typed ' || left(done.intent->>'command', 100)
      WHEN 'ack' THEN 'acknowledged'
      ELSE done.kind END, $2::text, done.id) AS text
    FROM done, health_checks h
    WHERE h.details->>'finding' = ANY (ARRAY(SELECT finding FROM about)) AND h.status <> 'ok')
  UPDATE health_checks h SET action_taken = concat_ws('; ', before, text) FROM taken
  WHERE h.id = taken.id AND length(coalesce(before, '')) < ${charsMax} AND strpos(coalesce(before, ''), text) = 0`;

export async function noteOutcome(client: pg.ClientBase, { actionId, outcome }: ActionOutcome): Promise<void> {
  if (!nothing.includes(outcome)) await client.query(noteAction, [actionId, outcome]);
}
