import type { AgentView, CheckName, Finding } from '../model/agent.ts';
import type { Hold } from './hold.ts';
import type { LoopTrouble } from './loops/watch.ts';

/** What the checks are tuned by, in milliseconds; from the configuration. */
export interface CheckLimits {
  waitingNotifyMs: number;
  answerMs: number;
  startMs: number;
  completionMs: number;
  stallMs: { thinking: number; tool: number; mcp: number; subagent: number };
}

export interface CheckInput {
  view: AgentView;
  nowMs: number;
  limits: CheckLimits;
  /** Since when a prompt of ours to an idle agent has had no reaction at all. */
  unansweredSinceMs: number | null;
  /** What its own record shows of loops, errors and lost ways. */
  loops: readonly LoopTrouble[];
  /** What it has agreed to say when it is done, and whether it has in its last turn; null: nothing is agreed. */
  completion: { signal: string; said: boolean } | null;
  /** How much of the time since then nobody looked, for the machine slept or the supervisor stood still. */
  missedSince: (sinceMs: number) => number;
}

/** Trouble, or why there is none: both are worth knowing. */
export type Verdict =
  | { found: Omit<Finding, 'id' | 'check' | 'subject' | 'slots' | 'standing'> & Partial<Pick<Finding, 'slots'>> }
  /** `coming`: the trouble is there, only its time is not up. */
  | { fine: string; coming?: boolean };

/** One health check: a pure look at one agent at one moment. */
export interface HealthCheck {
  readonly name: CheckName;
  /** How it holds still, where that is not as usual. */
  readonly hold?: Hold;
  look(input: CheckInput): Verdict;
}
