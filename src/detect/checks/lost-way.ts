import type { HealthCheck } from '../check.ts';
import { loopChecks } from '../loops/watch.ts';

/** How often each was right on runs it was not tuned on is in docs/reports/eval.md; until that is enough, nobody acts on it. */
const confidence = 0.8;

/** The loop family, from the agent's own record, while it is at work: an agent at its prompt is lost no more. */
export const lostWay: readonly HealthCheck[] = loopChecks.map(({ name }) => ({
  name,
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
