import type { HealthCheck } from '../check.ts';

/** The commonest long silence is a human's: an agent that waits for a permission or an answer. */
export const waitingHuman: HealthCheck = {
  name: 'waiting-human',
  look({ view, nowMs, limits, missedSince }) {
    const { state, detail, sinceMs, source, confidence } = view.reading;
    if (state !== 'waiting') return { fine: `it is ${state}` };
    const waitedMs = nowMs - sinceMs - missedSince(sinceMs);
    if (waitedMs < limits.waitingNotifyMs)
      return { fine: `it has waited ${Math.round(waitedMs / 1000)} s only`, coming: true };
    return {
      found: {
        severity: 'warning',
        confidence,
        sinceMs,
        evidence: [{ source, atMs: sinceMs, text: `waits for a human: ${detail ?? 'a dialog is open'}` }],
        action: null,
      },
    };
  },
};
