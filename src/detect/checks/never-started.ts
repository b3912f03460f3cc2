import { healthCheck, tells } from '../check.ts';
import { minuteMs, minutes } from '../thresholds.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'never-started': true;
  }
}

export const neverStarted = healthCheck({
  name: 'never-started',
  title: 'has not started',
  evidence: 'a living process, and no session in any record',
  why: 'Its process has lived for minutes, but there is no session, no transcript and no known screen. An agent at its prompt, in a dialog, at a setup screen or stopped with Ctrl-Z does not count.',
  isShared: true,
  thresholds: {
    'judging.startMinutes': minutes(5, "How long an agent's process may live without any session or known screen."),
  },
  ladder: tells('once'),
  worth: {
    ground: { by: 'record', why: 'a living process, and no session in any record' },
    right: 'It ended without having begun. Wrong: it began by itself.',
    verdicts: { 'agent-died': 'right', 'by-itself': 'wrong' },
  },
  look({ view, nowMs, missedSince }, limits) {
    const { state, detail } = view.reading;
    if (state !== 'unknown' || detail !== 'unreadable') return { fine: `it is ${state}` };
    if (view.sessionId !== null || view.transcript !== null || view.lastTurn !== null)
      return { fine: 'it has a session' };
    if (view.lastActivityMs !== null) return { fine: 'it has shown a sign of life' };
    const sinceMs = Math.max(view.startedAtMs, view.reading.sinceMs);
    const livedMs = nowMs - sinceMs - missedSince(sinceMs);
    if (livedMs < limits['judging.startMinutes'] * minuteMs)
      return { fine: `its process lives for ${Math.round(livedMs / 1000)} s so far`, coming: true };
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
});
