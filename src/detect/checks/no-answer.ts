import type { HealthCheck } from '../check.ts';

/** A prompt of ours was submitted to an idle agent, and nothing at all came of it. */
export const noAnswer: HealthCheck = {
  name: 'no-answer',
  look({ nowMs, limits, unansweredSinceMs, missedSince }) {
    if (unansweredSinceMs === null) return { fine: 'no prompt is open' };
    if (nowMs - unansweredSinceMs - missedSince(unansweredSinceMs) < limits.answerMs)
      return { fine: 'the prompt is still fresh', coming: true };
    return {
      found: {
        severity: 'warning',
        confidence: 0.8,
        sinceMs: unansweredSinceMs,
        evidence: [{ source: 'transcript', atMs: unansweredSinceMs, text: 'a submitted prompt had no reaction' }],
        action: null,
      },
    };
  },
};
