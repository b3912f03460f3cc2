import { type Hold, processName } from '../model/hold.ts';

/** Renewed this often; one that was not for `holdMs` is taken over, for its holder hangs. */
export const renewMs = 10_000;
const holdMs = 30_000;

/** Looked up only where they count: each is a look at a process. */
export interface HoldFacts {
  nowMs: number;
  isHolderAlive: (hold: Hold) => boolean;
  isAgentAlive: () => boolean;
}

/** Does it keep others away? */
export function stands(hold: Hold, facts: HoldFacts): boolean {
  const { renewedMs } = hold;
  if (renewedMs === null || !facts.isHolderAlive(hold)) return false;
  // The clock that never jumps is never behind what it said.
  if (renewedMs > facts.nowMs + renewMs) return false;
  // Nothing is typed into a dead agent: who had it last tells of it, and nobody needs to renew that.
  return facts.nowMs - renewedMs < holdMs || !facts.isAgentAlive();
}

export function isOwn(hold: Hold, wish: Pick<Hold, 'holder' | 'home'>): boolean {
  return hold.home === wish.home && processName(hold.holder) === processName(wish.holder);
}

/** The hold as it is with the wish fulfilled; null: somebody else has it. */
export function claimed(found: Hold | null, wish: Omit<Hold, 'number' | 'renewedMs'>, facts: HoldFacts): Hold | null {
  const { nowMs: renewedMs } = facts;
  if (found === null) return { ...wish, number: 1, renewedMs };
  if (found.renewedMs !== null && isOwn(found, wish)) return { ...wish, number: found.number, renewedMs };
  const givesWay = found.does === 'tell' && wish.does === 'act';
  return givesWay || !stands(found, facts) ? { ...wish, number: found.number + 1, renewedMs } : null;
}
