import type { HandoffSigns } from '../../detect/handoff-signs.ts';
import type { Refusal } from '../../model/action.ts';
import type { AgentView, State } from '../../model/agent.ts';
import type { Handoff } from '../../model/handoff.ts';
import { type DeedFacts, type DeedSoFar, isHopeless } from './deeds.ts';
import type { DocumentProblem, fileProblems } from './document.ts';
import { documentRecipe } from './recipe.ts';
import { isTraceOf } from './traces.ts';

// What the handoff machine decides between and by, and what all its steps have in common.

export type Move =
  | { do: 'wait'; reason: HandoffWait }
  /** `problems`: what is wrong with the one before; none: the request itself. */
  | { do: 'ask'; problems: readonly DocumentProblem[] }
  | { do: 'interrupt' }
  | {
      do: 'step';
      step: 'prompted' | 'written' | 'verified' | 'resumed' | 'confirmed' | 'done';
      reason: string | null;
    }
  | { do: 'save' }
  | { do: 'clear' }
  | { do: 'note-cleared'; newSession: string }
  /** The file is no longer what was stored: the stored text goes there once more. */
  | { do: 'put-back' }
  | { do: 'resume' }
  | { do: 'go-back' }
  | { do: 'fail'; reason: HandoffFailure };

/** Why a handoff does not go on now. `../wait-words.ts` has the words. */
export type HandoffWait =
  | Refusal
  | `is-${State}`
  | 'just-requested'
  | 'session-unknown'
  | 'over'
  | 'others-first'
  | 'background-work'
  | 'request-under-way'
  | 'request-turn'
  | 'turn-end'
  | 'service-failed'
  | 'document'
  | 'clear-under-way'
  | 'new-session'
  | 'arrival-unknown'
  | 'dialog-open'
  | 'resume-under-way'
  | 'document-unread'
  | 'not-gone-on'
  | 'way-back';

export type HandoffFailure =
  | 'ended'
  | 'session-changed'
  | 'compacted'
  | 'dialog'
  | 'unknown'
  | 'service'
  | 'no-document'
  | 'poor'
  | 'changing'
  | 'not-cleared'
  | 'not-confirmed'
  | 'taken-over'
  | 'uncertain'
  /** It asks before it writes, and only a person could let it. */
  | 'no-permission-hook'
  /** The configuration has its recipe no more. */
  | 'no-recipe'
  /** The row an earlier run left is not as the agent, the configuration and the ledger have it. */
  | 'untrusted'
  | Refusal;

/** What a look at the document found. */
export type DocumentLook =
  | { kind: keyof typeof fileProblems }
  | { kind: 'ok'; sha256: string; mtimeMs: number; problems: readonly DocumentProblem[] };

export interface HandoffFacts extends DeedFacts {
  /** How long this run has seen it at this step: neither our own absence nor a jump of the clock counts. */
  stepAgeMs: number;
  deadlineMs: number;
  /** So long background work is waited for before the document is asked for. */
  backgroundMs: number;
  /** null: it is gone. */
  agent: Pick<AgentView, 'reading' | 'sessionId' | 'background'> | null;
  /** Pause, mode or authority. */
  forbidden: Refusal | null;
  /** One of the places for handoffs at the same time is free, or already its own. */
  hasPlace: boolean;
  /** null: not looked at. */
  document: DocumentLook | null;
  old: HandoffSigns;
  /** Of the session after the clear. */
  fresh: HandoffSigns;
}

/** A prompt of which no trace has come for so long did not arrive. */
export const traceMs = 10_000;
/** After an error of the service the same is said again, but not at once. */
export const serviceMs = 30_000;
export const triesMax = 2;
export const serviceTriesMax = 4;

export interface At {
  handoff: Handoff;
  facts: HandoffFacts;
  agent: NonNullable<HandoffFacts['agent']>;
  session: string;
}

export function turnOf({ agent }: At): 'over' | 'running' | 'dialog' | 'unclear' {
  switch (agent.reading.state) {
    case 'idle':
      return 'over';
    case 'waiting':
      return 'dialog';
    case 'working':
    case 'compacting':
      return 'running';
    default:
      return 'unclear';
  }
}

/**
 * Once more what was refused; what nobody knows of only when the agent is at its prompt and its record has shown no
 * trace of it for long enough: then it never arrived. What was submitted did, however long its record takes.
 */
export function again({ facts }: At, before: DeedSoFar, move: Move): Move {
  if (before.is === 'none') return move;
  if (before.is === 'refused') {
    const late = facts.stepAgeMs >= 2 * facts.deadlineMs;
    return isHopeless(before) || late ? fail(before.refusal ?? 'stale') : move;
  }
  if (before.ageMs < (before.isSubmitted ? facts.deadlineMs : traceMs)) return wait('arrival-unknown');
  if (before.isSubmitted) return fail('uncertain');
  return before.tries < triesMax ? move : fail('uncertain');
}

export function wait(reason: HandoffWait): Move {
  return { do: 'wait', reason };
}

export function fail(reason: HandoffFailure): Move {
  return { do: 'fail', reason };
}

export function step(to: Extract<Move, { do: 'step' }>['step'], reason: string | null = null): Move {
  return { do: 'step', step: to, reason };
}

/** Has anybody but us said something to it after the given time? */
export function someoneElse({ facts }: At, signs: HandoffSigns, afterMs: number): boolean {
  const isOurs = (prompt: HandoffSigns['prompts'][number]) => facts.actions.some((each) => isTraceOf(each, prompt));
  return signs.prompts.some((prompt) => prompt.atMs > afterMs && !isOurs(prompt));
}

export function timesAt(handoff: Handoff, name: string): number {
  return handoff.steps.filter((taken) => taken.step === name).length;
}

export function isRecipe({ recipe }: Handoff): boolean {
  return recipe !== documentRecipe;
}
