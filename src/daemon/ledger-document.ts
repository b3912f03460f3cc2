import type { LedgerEntry, Trigger } from '../model/action.ts';
import type { Caller } from '../model/caller.ts';
import { time } from '../model/time.ts';
import type { AgentRecord } from '../record/agent-record.ts';

/** The JSON shapes of what is on record: `audit`, `prompts`, and the two lists of `why`. */

/** The first outcome is the action's; later ones are what came of it. */
export function entryDocument(entry: LedgerEntry, host: string) {
  const first = entry.outcomes[0];
  const answer = entry.outcomes.find((outcome) => outcome.outcome === 'answered')?.proof ?? null;
  return {
    id: entry.id,
    at: time(entry.atMs),
    agent: entry.agent,
    host,
    kind: entry.kind,
    trigger: entry.trigger,
    by: callerOf(entry),
    intent: entry.intent,
    outcome: first?.outcome ?? null,
    reason: first?.reason ?? null,
    finding: entry.finding,
    subject: entry.subject,
    proof: first?.proof ?? null,
    answer: answer === null ? null : { text: answer.answer ?? null, ms: answer.answer_ms ?? null },
    outcomes: entry.outcomes.map(({ atMs, outcome, reason }) => ({ at: time(atMs), outcome, reason })),
  };
}

/** null: from before it was written down, or nobody's. */
function callerOf({ trigger, intent }: { trigger: Trigger; intent: LedgerEntry['intent'] }): Caller | null {
  if (typeof intent.by === 'string') return intent.by as Caller;
  return trigger.startsWith('rule:') ? 'rule' : null;
}

/** `found` and `done`, the newest first; null: the database does not say. */
export function latelyDocument(lately: AgentRecord | null, host: string) {
  if (lately === null) return { found: null, done: null };
  return {
    found: lately.found.map((trouble) => ({
      id: trouble.id,
      check: trouble.check,
      subject: trouble.subject,
      severity: trouble.severity,
      text: trouble.text,
      since: time(trouble.openedMs),
      until: trouble.closedMs === null ? null : time(trouble.closedMs),
      acked: trouble.ackedMs === null ? null : time(trouble.ackedMs),
      prompts: trouble.prompts,
      told: trouble.tells,
      ending: trouble.ending,
    })),
    done: lately.done.map((entry) => entryDocument(entry, host)),
  };
}
