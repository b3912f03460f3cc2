import type { HealthCheck } from '../check.ts';

/**
 * The turn ended well, nothing runs any more, and the word for "done" that was agreed with this agent was not said in
 * it. Only where one is agreed: without that, silence after a turn is healthy.
 */
export const completionMissing: HealthCheck = {
  name: 'completion-missing',
  look({ view, nowMs, limits, completion, missedSince }) {
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
    if (nowMs - sinceMs - missedSince(sinceMs) < limits.completionMs)
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
            text: `the turn is over without ${completion.signal.slice(0, 100)}`,
          },
        ],
        action: null,
      },
    };
  },
};
