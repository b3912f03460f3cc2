import type { AgentView } from '../model/agent.ts';
import { isTurnOver } from './policy.ts';
import { standsStill } from './together.ts';

/** The background work of an agent that runs now. */
export interface RunningSpawns {
  sinceMs: number;
  /** Some of it cannot be seen without asking. */
  hidden: boolean;
}

export interface ProgressFacts {
  nowMs: number;
  mode: 'auto' | 'always' | 'never';
  everyMs: number;
  /** At most one rule-made prompt per agent in this time. */
  minIntervalMs: number;
  running: RunningSpawns | null;
  /** The last time it was asked, or since when somebody could have. */
  lastAskMs: number;
  lastAgentPromptMs: number | null;
}

/** Is it time to ask an agent how its background work is getting on? Asking costs it a turn, so only what is hidden. */
export function isProgressDue(view: AgentView, facts: ProgressFacts): boolean {
  const { nowMs, mode, running } = facts;
  if (running === null || mode === 'never' || (mode === 'auto' && !running.hidden)) return false;
  if (view.authority === 'observe' || !isTurnOver(view.reading) || standsStill(view)) return false;
  if (view.limitedUntilMs !== null && nowMs < view.limitedUntilMs) return false;
  if (nowMs < Math.max(facts.lastAskMs, running.sinceMs) + facts.everyMs) return false;
  return facts.lastAgentPromptMs === null || nowMs >= facts.lastAgentPromptMs + facts.minIntervalMs;
}
