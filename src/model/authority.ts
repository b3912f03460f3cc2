import type { Authority, State } from './agent.ts';

/** From the least to the most. */
const authorities: readonly unknown[] = ['observe', 'nudge', 'manage'] satisfies Authority[];

const states: Record<State, true> = {
  ...{ working: true, idle: true, waiting: true, retrying: true },
  ...{ limited: true, compacting: true, ended: true, unknown: true },
};

/** The more, the more may be done. What nobody knows may do nothing. */
export function rankOf(authority: Authority): number {
  return Math.max(0, authorities.indexOf(authority));
}

/** Of what was stored or sent: what nobody knows counts as the least. */
export function knownAuthority(value: unknown): Authority {
  return authorities.includes(value) ? (value as Authority) : 'observe';
}

export function knownState(value: unknown): State {
  return typeof value === 'string' && Object.hasOwn(states, value) ? (value as State) : 'unknown';
}
