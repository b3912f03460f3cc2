import type { HealthCheck } from '../check.ts';
import type { Hold } from '../hold.ts';
import { trendChecks } from '../trends/watch.ts';

/** As of loops: a step that leads out of it may be on its way. */
const hold: Hold = { readings: 2, forMs: 2_000, keepMs: 10_000 };

/** The trends of its own record. Those of a turn are over with it; those of a session are there at the prompt too. */
export const trends: readonly HealthCheck[] = trendChecks.map(({ name, confidence, lasts }) => ({
  name,
  hold,
  look({ view, loops }) {
    const { state } = view.reading;
    const here =
      lasts === 'turn' ? state === 'working' || state === 'retrying' : state !== 'ended' && state !== 'unknown';
    if (!here) return { fine: `it is ${state}` };
    const trouble = loops.find(({ check }) => check === name);
    if (trouble === undefined) return { fine: 'it is as it was before' };
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
