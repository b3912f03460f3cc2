import type { HealthCheck } from '../check.ts';

/**
 * Its process lives, but for minutes there is nothing to be read of it: no session, no transcript, no known screen. An
 * agent at its prompt, in a dialog or at a setup screen is known by that; one stopped with Ctrl-Z was stopped by somebody.
 */
export const neverStarted: HealthCheck = {
  name: 'never-started',
  look({ view, nowMs, limits, missedSince }) {
    const { state, detail } = view.reading;
    if (state !== 'unknown' || detail !== 'unreadable') return { fine: `it is ${state}` };
    if (view.sessionId !== null || view.transcript !== null || view.lastTurn !== null)
      return { fine: 'it has a session' };
    if (view.lastActivityMs !== null) return { fine: 'it has shown a sign of life' };
    const sinceMs = Math.max(view.startedAtMs, view.reading.sinceMs);
    const livedMs = nowMs - sinceMs - missedSince(sinceMs);
    if (livedMs < limits.startMs)
      return { fine: `its process lives for ${Math.round(livedMs / 1000)} s only`, coming: true };
    return {
      found: {
        severity: 'warning',
        confidence: 0.7,
        sinceMs,
        evidence: [
          {
            source: 'process',
            atMs: sinceMs,
            text: `its process lives for ${Math.round(livedMs / 60_000)} min, and no session has begun`,
          },
        ],
        action: null,
      },
    };
  },
};
