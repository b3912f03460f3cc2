import type { AgentView, CheckName, Finding } from '../model/agent.ts';
import type { LoopTrouble } from './loops/watch.ts';

/** What the checks are tuned by, in milliseconds; from the configuration. */
export interface CheckLimits {
  waitingNotifyMs: number;
  answerMs: number;
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
}

/** Trouble, or why there is none: both are worth knowing. */
type Verdict =
  | { found: Omit<Finding, 'id' | 'check' | 'subject' | 'slots'> & Partial<Pick<Finding, 'slots'>> }
  | { fine: string };

/** One health check: a pure look at one agent at one moment. */
export interface HealthCheck {
  readonly name: CheckName;
  look(input: CheckInput): Verdict;
}
