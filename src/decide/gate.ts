import type { Refusal } from '../model/action.ts';
import type { Authority, Mode } from '../model/agent.ts';

const rank: Record<Authority, number> = { observe: 0, nudge: 1, manage: 2 };

export interface GateFacts {
  mode: Mode;
  paused: boolean;
  authority: Authority;
}

/** The one gate for rules, people and programs alike. What needs more authority than the agent's is refused. */
export function whyNotAllowed(needs: Authority, facts: GateFacts): Refusal | null {
  if (facts.paused) return 'paused';
  if (facts.mode !== 'act') return 'watch-mode';
  // Also a word that nobody knows: it compares with nothing.
  return rank[facts.authority] >= rank[needs] ? null : 'authority';
}
