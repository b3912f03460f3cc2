import { healthCheck, noThresholds, shownOnly } from '../check.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'no-answer': true;
  }
}

export const noAnswer = healthCheck({
  name: 'no-answer',
  title: 'has not reacted to a prompt',
  evidence: 'a prompt of ours, and what the record of the agent has after it',
  why: 'A prompt of ours was submitted to an idle agent, and nothing came of it.',
  thresholds: noThresholds,
  ladder: shownOnly,
  worth: {
    ground: { by: 'none', why: 'a slow reaction looks the same', measured: null },
    right: 'A person had to step in, or the turn failed. Wrong: it reacted late.',
    verdicts: { 'human-wrote': 'right', 'human-interrupted': 'right', failed: 'right', 'by-itself': 'wrong' },
  },
  look({ nowMs, answerMs, unansweredSinceMs, missedSince }) {
    if (unansweredSinceMs === null) return { fine: 'no prompt is open' };
    if (nowMs - unansweredSinceMs - missedSince(unansweredSinceMs) < answerMs)
      return { fine: 'its time to react is not over', coming: true };
    return {
      found: {
        severity: 'warning',
        confidence: 0.8,
        sinceMs: unansweredSinceMs,
        evidence: [
          { source: 'transcript', atMs: unansweredSinceMs, text: 'it did not react to a prompt that was submitted' },
        ],
        action: null,
      },
    };
  },
});
