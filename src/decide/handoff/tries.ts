import { type Handoff, stepMs, stepOf } from '../../model/handoff.ts';
import { isQuietFailure } from './cycle.ts';

const triesMax = 3;

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
  // In watch mode it is put on record once.
  const watched = failed.some(({ steps }) => steps.at(-1)?.reason === 'watch-mode');
  if (loud.length >= triesMax || watched) return 'tried-enough';
  return nowMs < stepMs(last) + pauseMs * 2 ** Math.max(0, loud.length - 1) ? 'pause' : null;
}
