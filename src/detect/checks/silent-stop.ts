import type { HealthCheck } from '../check.ts';
import type { Hold } from '../hold.ts';

/** The client says that it is at its prompt a moment before its record has the end of the turn. */
const hold: Hold = { readings: 2, forMs: 500, keepMs: 5_000 };

/**
 * The turn was given up after errors and the client went back to its prompt without a word: three 529s take two
 * seconds, and nobody notices until morning.
 */
export const silentStop: HealthCheck = {
  name: 'silent-stop',
  hold,
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
