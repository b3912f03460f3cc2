import type { AgentView, CheckName } from '../model/agent.ts';
import type { Incident } from '../model/incident.ts';

/** What may be done about a trouble: so many prompts first, with growing pauses, then a human. */
interface Ladder {
  template: 'continue' | 'stalled' | null;
  promptsMax: number;
  tells: boolean;
  /** Its prompt may go to an agent that is not idle. */
  whileBusy: boolean;
}

/** A new check does not compile until the policy knows it. */
const ladders: Record<CheckName, Ladder> = {
  'silent-stop': { template: 'continue', promptsMax: 3, tells: true, whileBusy: false },
  'stalled-turn': { template: 'stalled', promptsMax: 1, tells: true, whileBusy: true },
  'waiting-human': { template: null, promptsMax: 0, tells: true, whileBusy: false },
  'ended-unexpectedly': { template: null, promptsMax: 0, tells: true, whileBusy: false },
  'no-answer': { template: null, promptsMax: 0, tells: false, whileBusy: false },
};

export interface PolicyFacts {
  nowMs: number;
  /** At most one rule-made prompt per agent in this time; the pauses of a ladder grow from it. */
  minIntervalMs: number;
  repeatMs: number;
  /** The last rule-made prompt to this agent, and to any agent of its project. */
  lastAgentPromptMs: number | null;
  lastProjectPromptMs: number | null;
}

export type Step =
  | { do: 'prompt'; template: 'continue' | 'stalled' }
  | { do: 'tell' }
  /** `for`: what it waits to do; null when nothing is left to do. */
  | { do: 'wait'; for: 'prompt' | 'tell' | null; reason: string; untilMs: number | null };

/** Agents of one project do not get prompts in the same second. */
const projectGapMs = 1_000;

/** One decision: the next thing to do about this trouble now, or why not yet. */
export function nextStep(incident: Incident, view: AgentView, facts: PolicyFacts): Step {
  const ladder = ladders[incident.check];
  const mayPrompt = ladder.template !== null && view.authority !== 'observe' && !isHopeless(incident, view);
  if (mayPrompt && ladder.template !== null && incident.prompts < ladder.promptsMax) {
    return promptStep(incident, view, facts, ladder, ladder.template);
  }
  if (mayPrompt && incident.lastPromptMs !== null) {
    const untilMs = incident.lastPromptMs + pause(incident.prompts, facts.minIntervalMs);
    if (facts.nowMs < untilMs) return { do: 'wait', for: 'tell', reason: 'the last prompt gets its chance', untilMs };
  }
  if (!ladder.tells) return { do: 'wait', for: null, reason: 'it is only recorded', untilMs: null };
  if (incident.ackedMs !== null) return { do: 'wait', for: null, reason: 'a human has acknowledged it', untilMs: null };
  if (incident.lastTellMs === null) return { do: 'tell' };
  const untilMs = incident.lastTellMs + facts.repeatMs;
  return facts.nowMs >= untilMs ? { do: 'tell' } : { do: 'wait', for: 'tell', reason: 'a human was told', untilMs };
}

/** Errors that only a person can mend: saying "continue" to an expired login is noise. */
const hopeless: readonly (string | null)[] = [
  'authentication_failed',
  'oauth_org_not_allowed',
  'account_on_hold',
  'verification_required',
  'billing_error',
  'model_not_found',
  'cloud_credential_error',
];

function isHopeless(incident: Incident, view: AgentView): boolean {
  return incident.check === 'silent-stop' && hopeless.includes(view.errorKind);
}

function promptStep(
  incident: Incident,
  view: AgentView,
  facts: PolicyFacts,
  ladder: Ladder,
  template: 'continue' | 'stalled',
): Step {
  if (incident.lastPromptMs !== null) {
    const untilMs = incident.lastPromptMs + pause(incident.prompts, facts.minIntervalMs);
    if (facts.nowMs < untilMs) return { do: 'wait', for: 'prompt', reason: 'the pause after the last prompt', untilMs };
  }
  if (!ladder.whileBusy && view.reading.state !== 'idle') {
    return { do: 'wait', for: 'prompt', reason: `it is ${view.reading.state}`, untilMs: null };
  }
  if (facts.lastAgentPromptMs !== null && facts.nowMs < facts.lastAgentPromptMs + facts.minIntervalMs) {
    return {
      do: 'wait',
      for: 'prompt',
      reason: 'it was prompted a short while ago',
      untilMs: facts.lastAgentPromptMs + facts.minIntervalMs,
    };
  }
  if (facts.lastProjectPromptMs !== null && facts.nowMs < facts.lastProjectPromptMs + projectGapMs) {
    return {
      do: 'wait',
      for: 'prompt',
      reason: 'another agent of the project was just prompted',
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
 * Is the trouble over? A failed turn that is being tried again shows no finding while the agent works; only a turn that
 * ended otherwise closes it.
 */
export function isOver(incident: Incident, view: AgentView | null, hasFinding: boolean): boolean {
  if (hasFinding) return false;
  if (view === null || view.reading.state === 'ended') return true;
  if (incident.check !== 'silent-stop') return true;
  return view.lastTurn !== 'failed' && (view.lastTurnAtMs ?? 0) > incident.openedMs;
}
