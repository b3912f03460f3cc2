import type { PromptTemplate, Step } from '../decide/policy.ts';
import type { SlotValues } from '../decide/templates.ts';
import type { AgentView, CheckName, Finding } from '../model/agent.ts';
import type { Incident } from '../model/incident.ts';
import { keepNewest } from '../model/keep-newest.ts';
import { notAfter } from '../model/not-after.ts';
import { shown } from '../model/text.ts';

/** What cannot be done now is tried again, at first soon and then less often. */
export const retryFirstMs = 5_000;
const retryLastMs = 60_000;
const lastPromptsMax = 1_000;

/** An incident while it is open, and what is going on about it. */
export interface Open {
  incident: Incident;
  step: Step;
  /** Something is being done about it at this moment. */
  busy: boolean;
  retryAtMs: number;
  retryWaitMs: number;
  /** A refusal is on record once, not at every tick. */
  lastRefusal: string | null;
  /** When its trouble was last seen. */
  seenMs: number;
  /** It is an earlier run's, and was not seen since. */
  isRestored: boolean;
}

/** As it is shown. */
export interface OpenIncident {
  incident: Incident;
  step: Step;
  /** The step could not be done a moment ago: when it is tried again, and why it was refused, if it was. */
  retry: { atMs: number; refusal: string | null } | null;
}

export function asShown({ incident, step, retryAtMs, lastRefusal }: Open, nowMs: number): OpenIncident {
  return { incident, step, retry: nowMs < retryAtMs ? { atMs: retryAtMs, refusal: lastRefusal } : null };
}

export function key(agent: string | null, check: CheckName, subject: string | null): string {
  return `${agent ?? ''}\n${check}\n${subject ?? ''}`;
}

export function fresh(incident: Incident): Open {
  const step: Step = { do: 'wait', for: null, reason: 'just opened', untilMs: null };
  return {
    incident,
    step,
    busy: false,
    retryAtMs: 0,
    retryWaitMs: retryFirstMs,
    lastRefusal: null,
    seenMs: incident.openedMs,
    isRestored: false,
  };
}

/** When a rule last prompted this agent or project. */
export function notePrompt(last: Map<string, number>, name: string, atMs: number): void {
  keepNewest(last, name, atMs, lastPromptsMax);
}

export function later(open: Open, nowMs: number): void {
  open.retryAtMs = nowMs + open.retryWaitMs;
  open.retryWaitMs = Math.min(open.retryWaitMs * 2, retryLastMs);
}

/** Nothing is done about what nobody sees at this moment, nor about what comes and goes. */
export function whyNotNow(finding: Finding | null): string {
  return finding?.standing === 'quarantined' ? 'it comes and goes' : 'it is out of sight';
}

/** While a handoff runs nobody is prompted, and nobody is told what the handoff is there for. */
export function isHeldBack({ step, incident }: Open): boolean {
  return step.do === 'prompt' || (step.do === 'tell' && incident.check === 'context-full');
}

export function ownSlots(template: PromptTemplate, incident: Incident, view: AgentView, nowMs: number): SlotValues {
  if (template === 'continue') return { error: shown(incident.text, 150) || 'an error' };
  const minutes = Math.max(1, Math.round((nowMs - incident.openedMs) / 60_000));
  return { minutes, activity: view.reading.detail ?? 'working' };
}

type LastPrompts = Record<'agent' | 'project', Map<string, number>>;

/**
 * The wall clock was set by so much: what is waited for is as far away as it was. What the agents' records are compared with is
 * never ahead of them. A row may have been written before an earlier setting, so nothing is moved beyond now.
 */
export function moveTimes(opens: Iterable<Open>, last: LastPrompts, byMs: number, nowMs: number): void {
  const moved = (timeMs: number | null) => (timeMs === null ? null : notAfter(timeMs + byMs, nowMs));
  for (const open of opens) {
    const { incident } = open;
    incident.openedMs += Math.min(0, byMs);
    incident.ackedMs = moved(incident.ackedMs);
    incident.lastPromptMs = moved(incident.lastPromptMs);
    incident.lastTellMs = moved(incident.lastTellMs);
    open.retryAtMs += byMs;
    open.seenMs += byMs;
  }
  for (const times of Object.values(last))
    for (const [name, atMs] of times) times.set(name, notAfter(atMs + byMs, nowMs));
}
