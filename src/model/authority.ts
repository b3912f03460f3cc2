import type { Authority } from './agent.ts';

/** From the least to the most. */
const authorities: readonly unknown[] = ['observe', 'nudge', 'manage'] satisfies Authority[];

/** The more, the more may be done. What nobody knows may do nothing. */
export function rankOf(authority: Authority): number {
  return Math.max(0, authorities.indexOf(authority));
}

/** Nobody may do what nobody knows. */
export function allows(authority: Authority, needs: Authority): boolean {
  return authorities.includes(needs) && rankOf(authority) >= rankOf(needs);
}
