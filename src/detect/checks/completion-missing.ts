import { healthCheck, shownOnly } from '../check.ts';
import { minuteMs, minutes, type Own } from '../thresholds.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'completion-missing': true;
  }
}

export const completionMissing = healthCheck({
  name: 'completion-missing',
  title: 'stopped without saying that it is done',
  evidence: 'what it said in its last turn',
  why: 'The turn ended well and nothing runs any more, but the agent did not say the agreed word for "done". It looks only where a word is agreed (`judging.completion`), because silence after a turn is healthy otherwise.',
  thresholds: {
    'judging.completionMinutes': minutes(1, 'How long after the end of a turn the signal counts as missing.'),
  },
  ladder: shownOnly,
  worth: {
    ground: { by: 'none', why: 'an agent may say it in other words', measured: null },
    right: 'A person had to write to it.',
    verdicts: { 'human-wrote': 'right' },
  },
  look({ view, nowMs, completion, missedSince }, limits) {
    if (completion === null) return { fine: 'no completion signal is agreed' };
    if (view.reading.state !== 'idle') return { fine: `it is ${view.reading.state}` };
    // The client says that it is at its prompt a moment before its record has the turn's end.
    if (view.turnIsOpen) return { fine: 'a newer turn has begun' };
    if (view.lastTurn !== 'ok' || view.lastTurnAtMs === null)
      return { fine: view.lastTurn === null ? 'no turn yet' : `the last turn ended ${view.lastTurn}` };
    if (view.background.length > 0) return { fine: 'its background work runs' };
    if (completion.said) return { fine: 'it said that it is done' };
    // The client continues by itself after a task's note or a stop hook: that chance comes first.
    const sinceMs = Math.max(view.lastTurnAtMs, view.reading.sinceMs);
    if (nowMs - sinceMs - missedSince(sinceMs) < completionMs(limits))
      return { fine: 'its turn has just ended', coming: true };
    return {
      found: {
        severity: 'warning',
        confidence: 0.8,
        sinceMs: view.lastTurnAtMs,
        evidence: [
          {
            source: 'transcript',
            atMs: view.lastTurnAtMs,
            text: missingText(completion.signal),
          },
        ],
        action: null,
      },
    };
  },
});

/** How long it may leave its word unsaid, live and on record. */
export function completionMs(limits: Own<(typeof completionMissing)['thresholds']>): number {
  return limits['judging.completionMinutes'] * minuteMs;
}

export function missingText(signal: string): string {
  return `the turn is over without ${signal.slice(0, 100)}`;
}
