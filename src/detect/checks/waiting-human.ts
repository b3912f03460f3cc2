import type { HealthCheck } from '../check.ts';

const asks: Record<string, string> = {
  permission: 'it asks for a permission',
  question: 'it asks a question',
  setup: 'it has to be set up first',
};

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
        evidence: [{ source, atMs: sinceMs, text: asks[detail ?? ''] ?? 'a dialog is open' }],
        action: null,
      },
    };
  },
};
