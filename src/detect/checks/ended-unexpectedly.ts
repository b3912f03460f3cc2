import type { HealthCheck } from '../check.ts';
import { provenHold } from '../hold.ts';

/** It went without saying goodbye, or in the middle of its work. */
export const endedUnexpectedly: HealthCheck = {
  name: 'ended-unexpectedly',
  // A process that is gone does not come back.
  hold: provenHold,
  look({ view }) {
    if (view.reading.state !== 'ended') return { fine: 'it runs' };
    if (view.endedBadly === null) return { fine: 'it was closed at its prompt' };
    const { sinceMs } = view.reading;
    return {
      found: {
        severity: 'critical',
        confidence: 0.9,
        sinceMs,
        evidence: [{ source: 'process', atMs: sinceMs, text: `ended ${view.endedBadly}` }],
        action: null,
      },
    };
  },
};
