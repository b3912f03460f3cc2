import type { AgentOrHost } from './agent-ref.ts';
import type { CheckName } from './check.ts';

/** How a trouble came to its end. */
export const endings = [
  /** It was over, and neither a person nor a rule had done anything about it. */
  'by-itself',
  /** A person wrote to the agent or interrupted it. */
  'human-wrote',
  'human-interrupted',
  /** The dialog was answered. */
  'human-answered',
  /** A person took note of it, and nothing else is known. */
  'human-acked',
  /** A person says that there was no such trouble. */
  'human-denied',
  /** A rule's own prompt about it, and a turn that ended well. */
  'prompt-helped',
  /** A handoff or a prompt of which nobody knows any more who wanted it. */
  'other-prompt',
  /** The turn, or the work it was about, failed. */
  'failed',
  'agent-died',
  /** It ended while nobody looked. */
  'unseen',
] as const;
export type Ending = (typeof endings)[number];

export type Verdict = 'right' | 'wrong' | 'unclear';

/** How one finding ended, written once that is known. */
export interface Score extends AgentOrHost {
  incident: string;
  check: CheckName;
  openedMs: number;
  endedMs: number;
  ending: Ending;
}
