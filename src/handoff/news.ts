import { randomUUID } from 'node:crypto';
import { isQuietFailure } from '../decide/handoff/cycle.ts';
import { failureWords, stuckWords } from '../decide/handoff/failure.ts';
import { waitWords } from '../decide/wait-words.ts';
import type { ClientName, Found, FoundTrouble, Sighting } from '../model/agent.ts';
import type { WatchEvent } from '../model/event.ts';
import {
  type Handoff,
  type HandoffAction,
  type HandoffDeed,
  type HandoffStep,
  stepMs,
  stepOf,
} from '../model/handoff.ts';
import type { CheckRow } from '../model/store.ts';
import { shown } from '../model/text.ts';
import type { Cycle } from './cycle.ts';

/** What others hear of a step: an event for each, and a row of `health_checks` for its beginning and its end. */
export interface HandoffNews {
  handoff: Handoff;
  event: WatchEvent;
  check: CheckRow | null;
}

/** `finding`: the id of the trouble that it left, by the board; null: none. `actions`: what was done for it, by the ledger. */
export function newsOf(handoff: Handoff, finding: string | null, actions: readonly HandoffAction[]): HandoffNews {
  const step = stepOf(handoff);
  const { agent, project, file, trigger, sha256, oldSession, newSession } = handoff;
  const reason = handoff.steps.at(-1)?.reason ?? null;
  const data = { handoff: handoff.id, step, reason, file: shown(file, 4_096), trigger };
  const event: WatchEvent = {
    id: randomUUID(),
    atMs: stepMs(handoff),
    agent,
    sessionId: newSession ?? oldSession,
    source: 'watchkeeper',
    kind: 'handoff',
    data,
  };
  if (step !== 'requested' && step !== 'done' && step !== 'failed') return { handoff, event, check: null };
  const details = { ...data, sha256, old_session: oldSession, new_session: newSession, finding };
  const row = { agent, project, atMs: stepMs(handoff), type: 'handoff', details };
  const taken = step === 'requested' ? null : takenWords(actions);
  return { handoff, event, check: { ...row, status: statusOf(step, reason), taken } };
}

const deedWords: Record<HandoffDeed, string> = {
  ask: 'asked for a document',
  interrupt: 'interrupted agent',
  clear: 'cleared context',
  resume: 'resumed from the document',
  'go-back': 'went back to the session before',
};

const actionsMax = 50;

/** As `action_taken` has it everywhere: what was refused was not done. */
function takenWords(actions: readonly HandoffAction[]): string | null {
  const done = actions.slice(-actionsMax).flatMap(({ id, deed, outcomes }) => {
    const outcome = outcomes.findLast((one) => one.outcome !== 'answered')?.outcome ?? 'uncertain';
    return outcome === 'refused' ? [] : [`${deedWords[deed]}: ${outcome}, action ${id}`];
  });
  return done.length === 0 ? null : done.join('; ');
}

function statusOf(step: HandoffStep, reason: string | null): CheckRow['status'] {
  if (step !== 'failed') return 'ok';
  return isQuietFailure(reason) ? 'warning' : 'critical';
}

/** What is wrong: handoffs that failed and left their agent where it was, or without its context. `wrong`: what else is. */
export function handoffTroubles(
  views: readonly Sighting[],
  wrong: (agent: string) => Found | null,
  over: readonly Handoff[],
): FoundTrouble[] {
  return views.flatMap((view) => {
    const finding = wrong(view.agent) ?? failureFinding(over, view);
    return finding === null ? [] : [{ host: view.host, agent: view.agent, project: view.project, finding }];
  });
}

/**
 * While the agent is in one of its two sessions, a handoff that failed concerns a human: until one says so, or a later one
 * is done. One that runs does not make up for it yet.
 */
export function failureFinding(over: readonly Handoff[], view: Sighting): Found | null {
  const counts = (one: Handoff) => one.agent === view.agent && (isLoud(one) || stepOf(one) === 'done');
  const handoff = over.findLast(counts);
  if (handoff === undefined || !isLoud(handoff) || handoff.acked || view.reading.state === 'ended') return null;
  if (view.sessionId !== handoff.oldSession && view.sessionId !== handoff.newSession) return null;
  return findingOf(handoff, failureWords(handoff, view.client));
}

/** A cleared agent that does not get its resume prompt past the deadline: a human may see why. */
export function stuckFinding(
  cycle: Cycle | undefined,
  client: ClientName | null,
  deadlineMs: number,
  nowMs: number,
): Found | null {
  if (cycle === undefined) return null;
  const { handoff, actions } = cycle;
  if (stepOf(handoff) !== 'cleared' || nowMs - stepMs(handoff) < deadlineMs) return null;
  const tries = actions.filter(({ deed, after }) => deed === 'resume' && after === handoff.steps.length);
  // The last word, also while it is being tried again.
  const { outcome, reason } = tries.flatMap(({ outcomes }) => outcomes).at(-1) ?? {};
  if (outcome === 'refused') return findingOf(handoff, stuckWords(handoff, reason ?? 'stale', client));
  // Or nothing could be tried at all.
  const { move, waitsSinceMs } = cycle;
  const isHeld = waitsSinceMs !== null && nowMs - waitsSinceMs >= deadlineMs;
  return isHeld && move.do === 'wait' ? findingOf(handoff, stuckWords(handoff, waitWords(move.reason), client)) : null;
}

function findingOf(handoff: Handoff, text: string): Found {
  const atMs = stepMs(handoff);
  return {
    check: 'handoff-failed',
    subject: handoff.id,
    severity: 'critical',
    confidence: 1,
    sinceMs: atMs,
    evidence: [{ source: 'watchkeeper', atMs, text }],
    action: 'tell a human',
    slots: null,
  };
}

function isLoud(handoff: Handoff): boolean {
  return stepOf(handoff) === 'failed' && !isQuietFailure(handoff.steps.at(-1)?.reason ?? null);
}
