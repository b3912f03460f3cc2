import type { HealthCheck } from '../check.ts';
import type { Hold } from '../hold.ts';
import { loopChecks } from '../loops/watch.ts';

/** How often each was right on runs it was not tuned on is in docs/reports/eval.md; until that is enough, nobody acts on it. */
const confidence = 0.8;
/** A step that leads out of it may be on its way; one step out and back in again is the same loop. */
const hold: Hold = { readings: 2, forMs: 2_000, keepMs: 10_000 };

/** The loop family, from the agent's own record, while it is at work: an agent at its prompt is lost no more. */
export const lostWay: readonly HealthCheck[] = loopChecks.map(({ name }) => ({
  name,
  hold,
  look({ view, loops }) {
    const { state } = view.reading;
    if (state !== 'working' && state !== 'retrying') return { fine: `it is ${state}` };
    const trouble = loops.find(({ check }) => check === name);
    if (trouble === undefined) return { fine: 'its steps bring something new' };
    const { sinceMs, atMs, text } = trouble;
    return {
      found: {
        severity: 'warning',
        confidence,
        sinceMs,
        evidence: [{ source: 'transcript', atMs, text }],
        action: null,
      },
    };
  },
}));
