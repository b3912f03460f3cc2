import { type Handoff, stepMs, stepOf } from '../../model/handoff.ts';
import { isQuietFailure } from './cycle.ts';
import type { HandoffFailure } from './moves.ts';

const triesMax = 3;

/** It asks before it writes, and no hook could answer: a rule does not begin what only a person can end. */
export const wouldStand: HandoffFailure = 'no-permission-hook';
const onceOnly: readonly (string | null | undefined)[] = ['watch-mode', wouldStand];

/** Begun by a rule, and nothing was asked of the agent yet. */
export function isRulesFirst(handoff: Handoff): boolean {
  return handoff.trigger !== 'human' && stepOf(handoff) === 'requested';
}

/** What was only put on record in watch mode is no try, nor what was not begun because it would have stood, once it would not. */
export function isTry({ steps }: Handoff, now: { isWatching: boolean; waits: boolean }): boolean {
  const reason = steps.at(-1)?.reason;
  return (now.isWatching || reason !== 'watch-mode') && (now.waits || reason !== wouldStand);
}

/**
 * May a rule hand this session over, after what came of earlier tries? Each failure has a longer pause after it, and
 * after the third only a person begins another. `handoffs`: of this agent, oldest first. null: it may.
 */
export function whyNotYet(
  handoffs: readonly Handoff[],
  sessionId: string | null,
  pauseMs: number,
  nowMs: number,
): 'tried-enough' | 'pause' | null {
  const failed = handoffs.filter((handoff) => handoff.oldSession === sessionId && stepOf(handoff) === 'failed');
  const last = failed.at(-1);
  if (last === undefined) return null;
  const loud = failed.filter(
    ({ trigger, steps }) => trigger !== 'human' && !isQuietFailure(steps.at(-1)?.reason ?? null),
  );
  // In watch mode it is put on record once; what is missing is told once.
  const once = failed.some(({ steps }) => onceOnly.includes(steps.at(-1)?.reason));
  if (loud.length >= triesMax || once) return 'tried-enough';
  return nowMs < stepMs(last) + pauseMs * 2 ** Math.max(0, loud.length - 1) ? 'pause' : null;
}
