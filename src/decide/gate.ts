import type { Refusal } from '../model/action.ts';
import type { Authority, Mode } from '../model/agent.ts';
import { allows } from '../model/authority.ts';
import type { HoldStanding } from '../model/hold.ts';

export interface GateFacts {
  mode: Mode;
  paused: boolean;
  authority: Authority;
  hold: HoldStanding;
}

/** The one gate for rules, people and programs alike. What needs more authority than the agent's is refused. */
export function whyNotAllowed(needs: Authority, facts: GateFacts): Refusal | null {
  if (facts.paused) return 'paused';
  if (facts.mode !== 'act') return 'watch-mode';
  if (facts.hold === 'elsewhere') return 'held-elsewhere';
  if (!allows(facts.authority, needs)) return 'authority';
  return needs === 'observe' ? null : whyNotHeld(facts.hold);
}

/** To be called is worth more than to be called once; but nothing is done to an agent that may be somebody else's. */
export function whyNotHeld(hold: HoldStanding): Refusal | null {
  if (hold === 'elsewhere') return 'held-elsewhere';
  return hold === 'none' ? 'no-hold' : null;
}
