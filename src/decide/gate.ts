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
  const [first] = against(needs, facts);
  return first ?? null;
}

/** Everything that speaks against it, the first reason first. */
export function* against(needs: Authority, facts: GateFacts): Generator<Refusal, void> {
  if (facts.paused) yield 'paused';
  if (facts.mode !== 'act') yield 'watch-mode';
  if (facts.hold === 'elsewhere') yield 'held-elsewhere';
  if (!allows(facts.authority, needs)) yield 'authority';
  if (needs !== 'observe' && facts.hold === 'none') yield 'no-hold';
}

/** To be called is worth more than to be called once; but nothing is done to an agent that may be somebody else's. */
export function whyNotHeld(hold: HoldStanding): Refusal | null {
  if (hold === 'elsewhere') return 'held-elsewhere';
  return hold === 'none' ? 'no-hold' : null;
}
