import type { NextStep, PromptTemplate, StepWait } from '../decide/policy.ts';
import type { SlotValues } from '../decide/templates.ts';
import type { DeedReason } from '../model/action.ts';
import type { AgentView, Finding, Found } from '../model/agent.ts';
import type { Deeds } from '../model/deeds.ts';
import { errorWords } from '../model/evidence.ts';
import type { Incident } from '../model/incident.ts';
import { notAfter } from '../model/not-after.ts';

/** What cannot be done now is tried again, at first soon and then less often. */
export const retryFirstMs = 5_000;
const retryLastMs = 60_000;

/** An incident while it is open, and what is going on about it. */
export interface Open {
  incident: Incident;
  step: NextStep;
  /** Something is being done about it at this moment. */
  busy: boolean;
  retryAtMs: number;
  retryWaitMs: number;
  /** A refusal is on record once, not at every tick. */
  lastRefusal: DeedReason | null;
  /** When its trouble was last seen. */
  seenMs: number;
  /** Some channels have had its present message; the others are tried on. */
  isToldPartly: boolean;
  /** It is an earlier run's, and was not seen since. */
  isRestored: boolean;
  /** Whether its prompts arrived, and when the ledger was last asked. */
  proof: { is: 'unknown' | 'proved' | 'unproved'; askedMs: number };
  /** What was found of it in this round; null: nothing. */
  finding: Finding | null;
  /** As it was last found in this run. */
  last: Found | null;
  /** Its row as it was last written, one after the other: whether that is on record. */
  saved: Promise<boolean>;
}

export function key({ agent, check, subject }: Pick<Incident, 'agent' | 'check' | 'subject'>): string {
  return `${agent ?? ''}\n${check}\n${subject ?? ''}`;
}

export function fresh(incident: Incident): Open {
  const step: NextStep = { do: 'wait', for: null, reason: 'just-opened', untilMs: null };
  return {
    incident,
    step,
    busy: false,
    retryAtMs: 0,
    retryWaitMs: retryFirstMs,
    lastRefusal: null,
    seenMs: incident.openedMs,
    isToldPartly: false,
    isRestored: false,
    proof: { is: 'unknown', askedMs: 0 },
    finding: null,
    last: null,
    saved: Promise.resolve(true),
  };
}

/**
 * What was done counts from the moment the ledger has it; a run that was killed could not write it into the incident. When
 * what is known already was done, is known better: the clock may have been set since the ledger's row.
 */
export function countDeeds(incident: Incident, deeds: Deeds | undefined, nowMs: number): void {
  if (deeds === undefined) return;
  const last = (known: number | null, ms: number | null) =>
    ms === null ? known : Math.min(nowMs, Math.max(known ?? ms, ms));
  if (deeds.prompts > incident.prompts) {
    incident.prompts = deeds.prompts;
    incident.lastPromptMs = last(incident.lastPromptMs, deeds.lastPromptMs);
  }
  if (deeds.tells > incident.tells) {
    incident.tells = deeds.tells;
    incident.lastTellMs = last(incident.lastTellMs, deeds.lastTellMs);
  }
}

export function later(open: Open, nowMs: number): void {
  open.retryAtMs = nowMs + open.retryWaitMs;
  open.retryWaitMs = Math.min(open.retryWaitMs * 2, retryLastMs);
}

/** Nothing is done about what nobody sees at this moment, nor about what comes and goes. */
export function whyNotNow(finding: Finding | null): StepWait {
  return finding?.standing === 'quarantined' ? 'comes-and-goes' : 'out-of-sight';
}

/** While a handoff runs nobody is prompted, and nobody is told what the handoff is there for. */
export function isHeldBack(step: NextStep, incident: Incident): boolean {
  return step.do === 'prompt' || (step.do === 'tell' && incident.check === 'context-full');
}

/** `sinceMs`: since when it is so, which is longer than it is known. */
export function ownSlots(
  template: PromptTemplate,
  incident: Incident,
  view: AgentView,
  { nowMs, sinceMs }: { nowMs: number; sinceMs: number },
): SlotValues {
  if (template === 'continue') return { error: errorWords(view.errorKind, incident.text) };
  const minutes = Math.max(1, Math.round((nowMs - sinceMs) / 60_000));
  return { minutes, activity: view.reading.detail ?? 'working' };
}

/**
 * The wall clock was set by so much: what is waited for is as far away as it was. What the agents' records are compared with is
 * never ahead of them. A row may have been written before an earlier setting, so nothing is moved beyond now.
 */
export function moveTimes(opens: Iterable<Open>, byMs: number, nowMs: number): void {
  const moved = (timeMs: number | null) => (timeMs === null ? null : notAfter(timeMs + byMs, nowMs));
  for (const open of opens) {
    const { incident } = open;
    incident.openedMs += Math.min(0, byMs);
    incident.ackedMs = moved(incident.ackedMs);
    incident.lastPromptMs = moved(incident.lastPromptMs);
    incident.lastTellMs = moved(incident.lastTellMs);
    open.retryAtMs += byMs;
    open.seenMs += byMs;
    open.proof.askedMs += byMs;
  }
}
