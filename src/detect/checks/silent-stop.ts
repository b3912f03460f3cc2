import type { HealthCheck } from '../check.ts';

/**
 * The turn was given up after errors and the client went back to its prompt without a word: three 529s take two
 * seconds, and nobody notices until morning.
 */
export const silentStop: HealthCheck = {
  name: 'silent-stop',
  look({ view }) {
    if (view.reading.state !== 'idle') return { fine: `it is ${view.reading.state}` };
    if (view.lastTurn !== 'failed')
      return { fine: view.lastTurn === null ? 'no turn yet' : `the last turn ended ${view.lastTurn}` };
    const sinceMs = view.lastTurnAtMs ?? view.reading.sinceMs;
    return {
      found: {
        severity: 'warning',
        confidence: 0.9,
        sinceMs,
        evidence: [{ source: 'transcript', atMs: sinceMs, text: view.error ?? 'the last turn failed' }],
        action: null,
      },
    };
  },
};
