import type { HealthCheck } from '../check.ts';

/** The commonest long silence is a human's: an agent that waits for a permission or an answer. */
export const waitingHuman: HealthCheck = {
  name: 'waiting-human',
  look(view, nowMs, limits) {
    const { state, detail, sinceMs, source, confidence } = view.reading;
    if (state !== 'waiting' || nowMs - sinceMs < limits.waitingNotifyMs) return null;
    return {
      severity: 'warning',
      confidence,
      sinceMs,
      evidence: [{ source, atMs: sinceMs, text: `waits for a human: ${detail ?? 'a dialog is open'}` }],
      action: null,
    };
  },
};
