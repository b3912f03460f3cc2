import type { Refusal, Trigger } from '../model/action.ts';
import type { Authority, Mode } from '../model/agent.ts';
import { allows } from '../model/authority.ts';
import type { Caller } from '../model/caller.ts';
import type { HoldStanding } from '../model/hold.ts';

export interface GateFacts {
  mode: Mode;
  paused: boolean;
  /** A rule wants it, and this daemon has only just begun to look. */
  starting: boolean;
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
  if (facts.starting) yield 'starting';
  if (facts.hold === 'elsewhere') yield 'held-elsewhere';
  if (!allows(facts.authority, needs)) yield 'authority';
  if (needs !== 'observe' && facts.hold === 'none') yield 'no-hold';
}

/** Whose wish it is: people, and programs in their name, need not wait until a start is over. */
export function isRules({ by, trigger }: { by: Caller | null; trigger: Trigger }): boolean {
  return by === 'rule' || (by === null && trigger !== 'human');
}

interface StartQuiet {
  firstQuietSeconds: number;
  quietSeconds: number;
}

/** How long rules do nothing after a start. A single round is over before it could begin to wait. */
export function quietMs(start: StartQuiet, { isFirst, isOnce }: { isFirst: boolean; isOnce: boolean }): number {
  if (isFirst) return start.firstQuietSeconds * 1_000;
  return isOnce ? 0 : start.quietSeconds * 1_000;
}

/** To be called is worth more than to be called once; but nothing is done to an agent that may be somebody else's. */
export function whyNotHeld(hold: HoldStanding): Refusal | null {
  if (hold === 'elsewhere') return 'held-elsewhere';
  return hold === 'none' ? 'no-hold' : null;
}
