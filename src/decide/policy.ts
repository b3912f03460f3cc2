import { type Ladder, type PromptTemplate, shownOnly } from '../detect/check.ts';
import { isAuthError } from '../detect/checks/auth-failed.ts';
import { fullBand, highBand } from '../detect/checks/context-high.ts';
import { checkCalled, definitionOf } from '../detect/checks.ts';
import type { Refusal } from '../model/action.ts';
import type { AgentView, Sighting, State } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import type { ErrorKind } from '../model/error-kind.ts';
import type { Incident } from '../model/incident.ts';
import { backoffMs } from './backoff.ts';
import { mayBeActedOn } from './worth.ts';

export type { PromptTemplate } from '../detect/check.ts';

/** As many as no ladder has: it cannot be said to the agent, the next step is a human. */
export const promptsSpent = 1_000;

/** What no ground stands under is shown and no more; nor is anybody called because of a check that calls nobody. */
function ladderOf({ check, subject }: Pick<Incident, 'check' | 'subject'>): Ladder {
  if (!mayBeActedOn(check)) return shownOnly;
  const flaps = check === 'flapping' ? checkCalled((subject ?? '').split(':')[0] ?? '') : null;
  return flaps !== null && mostDone(flaps) === 'shows' ? shownOnly : definitionOf(check).ladder;
}

/** The most that is done about a finding of this check. */
export function mostDone(check: CheckName): 'prompts' | 'tells' | 'shows' {
  const { template, tells } = definitionOf(check).ladder;
  if (template !== null) return 'prompts';
  return tells === 'never' ? 'shows' : 'tells';
}

export interface PolicyFacts {
  nowMs: number;
  /** The trouble shows at this very moment; an incident may be open without. */
  isFound: boolean;
  /** At most one rule-made prompt per agent in this time; the pauses of a ladder grow from it. */
  minIntervalMs: number;
  repeatMs: number;
  /** How long a request that was refused for its rate is left alone at first. */
  rateLimitBackoffMs: number;
  /** The last rule-made prompt to this agent, and to any agent of its project. */
  lastAgentPromptMs: number | null;
  lastProjectPromptMs: number | null;
  /** By the ledger none of the prompts about it is known to have arrived, though there was time enough. */
  isUnproved: boolean;
}

export type NextStep =
  | { do: 'prompt'; template: PromptTemplate }
  | { do: 'tell' }
  /** `for`: what it waits to do; null when nothing is left to do. */
  | { do: 'wait'; for: 'prompt' | 'tell' | null; reason: StepWait; untilMs: number | null };

/** Why nothing is done about a trouble now. `wait-words.ts` has the words. */
export type StepWait =
  | Refusal
  | `is-${State}`
  | 'just-opened'
  | 'told-by-auth-failed'
  | 'tried-again'
  | 'prompted'
  | 'prompted-lately'
  | 'project-prompted-lately'
  | 'being-prompted'
  | 'prompt-has-its-chance'
  | 'pause-after-prompt'
  | 'only-recorded'
  | 'acknowledged'
  | 'told'
  | 'told-as-one-of-many'
  | 'others-may-follow'
  | 'client-waits-for-limit'
  | 'rate-refused'
  | 'not-showing'
  | 'out-of-sight'
  | 'comes-and-goes'
  | 'handoff-runs'
  | 'record-is-read'
  | 'work-goes-first';

/** Agents of one project do not get prompts in the same second. */
const projectGapMs = 1_000;

/** One decision: the next thing to do about this trouble now, or why not yet. `view`: null where no agent is concerned. */
export function nextStep(incident: Incident, view: AgentView | null, facts: PolicyFacts): NextStep {
  const ladder = ladderOf(incident);
  if (incident.check === 'silent-stop' && view !== null && isAuthError(errorKindOf(view)))
    return { do: 'wait', for: null, reason: 'told-by-auth-failed', untilMs: null };
  if (incident.check === 'auth-failed' && view !== null && view.reading.state !== 'idle' && !facts.isFound)
    return { do: 'wait', for: 'tell', reason: 'tried-again', untilMs: null };
  const mayPrompt = view !== null && ladder.template !== null && mayBePrompted(incident, view);
  if (mayPrompt && ladder.template !== null && incident.prompts < ladder.promptsMax) {
    return promptStep(incident, view, facts, ladder, ladder.template);
  }
  // What nobody knows to have arrived is neither said again nor taken for said: a human is told.
  if (isToldInstead(incident) && !facts.isUnproved) return { do: 'wait', for: null, reason: 'prompted', untilMs: null };
  if (mayPrompt && incident.lastPromptMs !== null) {
    const untilMs = incident.lastPromptMs + pause(incident.prompts, facts.minIntervalMs);
    if (facts.nowMs < untilMs) return { do: 'wait', for: 'tell', reason: 'prompt-has-its-chance', untilMs };
  }
  if (ladder.tells === 'never') return { do: 'wait', for: null, reason: 'only-recorded', untilMs: null };
  if (incident.ackedMs !== null) return { do: 'wait', for: null, reason: 'acknowledged', untilMs: null };
  if (incident.lastTellMs === null) return { do: 'tell' };
  if (ladder.tells !== 'repeat') return { do: 'wait', for: null, reason: 'told', untilMs: null };
  const untilMs = incident.lastTellMs + facts.repeatMs;
  return facts.nowMs >= untilMs ? { do: 'tell' } : { do: 'wait', for: 'tell', reason: 'told', untilMs };
}

/** It was said to its agent, and so to nobody else. */
export function isToldInstead(incident: Incident): boolean {
  return ladderOf(incident).tells === 'instead' && incident.prompts > 0 && incident.prompts < promptsSpent;
}

/** Errors that only a person can mend: saying "continue" to an expired login is noise. */
const hopeless: ReadonlySet<string | null> = new Set<ErrorKind>([
  'authentication_failed',
  'billing_error',
  'model_not_found',
]);

function mayBePrompted(incident: Incident, view: AgentView): boolean {
  return view.authority !== 'observe' && view.reading.state !== 'ended' && !isHopeless(incident, view);
}

/** Background work keeps the client busy, but its own turn is over: it takes a prompt as at its prompt. */
export function isTurnOver({ state, detail, tool }: AgentView['reading']): boolean {
  return state === 'idle' || (state === 'working' && detail === 'subagent' && tool === null);
}

/** The record has a turn's end up to so long after the client is idle; only then is it known how it ended. */
const turnEndMs = 5_000;

/** Nobody knows what an unknown agent does: no moment is right. */
function isMoment(moment: Ladder['moment'], view: AgentView, nowMs: number): boolean {
  if (view.reading.state === 'unknown') return false;
  if (moment === 'any') return true;
  if (view.turnIsOpen && nowMs - view.reading.sinceMs < turnEndMs) return false;
  return moment === 'idle' ? view.reading.state === 'idle' : isTurnOver(view.reading);
}

/** Of what gave the work up; that of the last turn where nothing else is known. */
function errorKindOf({ stopped, errorKind }: AgentView): string | null {
  return stopped?.errorKind ?? errorKind;
}

function isHopeless(incident: Incident, view: AgentView): boolean {
  return incident.check === 'silent-stop' && hopeless.has(errorKindOf(view));
}

/** A 429 that says nothing of when it ends: to try again at once would only be refused again. */
function backsOffUntil(incident: Incident, view: AgentView, facts: PolicyFacts): number {
  if (incident.check !== 'silent-stop' || errorKindOf(view) !== 'rate_limit' || view.limitedUntilMs !== null) return 0;
  const failedMs = Math.min(view.stopped?.sinceMs ?? incident.openedMs, facts.nowMs);
  return failedMs + backoffMs(facts.rateLimitBackoffMs, incident.prompts, incident.id);
}

function promptStep(
  incident: Incident,
  view: AgentView,
  facts: PolicyFacts,
  ladder: Ladder,
  template: PromptTemplate,
): NextStep {
  const { limitedUntilMs } = view;
  if (limitedUntilMs !== null && facts.nowMs < limitedUntilMs)
    return { do: 'wait', for: 'prompt', reason: 'client-waits-for-limit', untilMs: limitedUntilMs };
  if (incident.lastPromptMs !== null) {
    const untilMs = incident.lastPromptMs + pause(incident.prompts, facts.minIntervalMs);
    if (facts.nowMs < untilMs) return { do: 'wait', for: 'prompt', reason: 'pause-after-prompt', untilMs };
  }
  const backoffUntilMs = backsOffUntil(incident, view, facts);
  if (facts.nowMs < backoffUntilMs)
    return { do: 'wait', for: 'prompt', reason: 'rate-refused', untilMs: backoffUntilMs };
  if (!isMoment(ladder.moment, view, facts.nowMs)) {
    return { do: 'wait', for: 'prompt', reason: `is-${view.reading.state}`, untilMs: null };
  }
  if (!facts.isFound) return { do: 'wait', for: 'prompt', reason: 'not-showing', untilMs: null };
  if (facts.lastAgentPromptMs !== null && facts.nowMs < facts.lastAgentPromptMs + facts.minIntervalMs) {
    return {
      do: 'wait',
      for: 'prompt',
      reason: 'prompted-lately',
      untilMs: facts.lastAgentPromptMs + facts.minIntervalMs,
    };
  }
  if (facts.lastProjectPromptMs !== null && facts.nowMs < facts.lastProjectPromptMs + projectGapMs) {
    return {
      do: 'wait',
      for: 'prompt',
      reason: 'project-prompted-lately',
      untilMs: facts.lastProjectPromptMs + projectGapMs,
    };
  }
  return { do: 'prompt', template };
}

/** One interval after the first prompt, two after the second, four after the third. */
function pause(prompts: number, minIntervalMs: number): number {
  return minIntervalMs * 2 ** Math.max(0, prompts - 1);
}

/**
 * Is the trouble over? A failed turn that is being tried again shows no finding while the agent works; only when what it
 * needs has happened is it over: to be let in, any turn that ended otherwise shows; that the work goes on, only one that
 * took it up. A stay in a band ends with the band, not with every moment in which nobody can look.
 */
export function isOver(incident: Incident, view: Sighting | null, hasFinding: boolean): boolean {
  if (incident.check === 'context-high') return isStayOver(incident, view, highBand);
  if (incident.check === 'context-full') return isStayOver(incident, view, fullBand);
  if (hasFinding) return false;
  if (view === null || view.reading.state === 'ended') return true;
  if (incident.check !== 'silent-stop' && incident.check !== 'auth-failed') return true;
  if (incident.check === 'silent-stop' && view.stopped !== null) return false;
  return view.lastTurn !== 'failed' && (view.lastTurnAtMs ?? 0) > incident.openedMs;
}

/** Also when the agent went to another session in the same band: that is a stay of its own. */
function isStayOver(incident: Incident, view: Sighting | null, index: number): boolean {
  if (view === null || view.reading.state === 'ended' || view.band === null) return true;
  return view.band.index !== index || view.band.sinceMs > incident.openedMs;
}
