import { healthCheck, noThresholds, onRecord, tells } from '../check.ts';
import { provenPersistence } from '../hold.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'ended-unexpectedly': true;
  }
}

export const endedUnexpectedly = healthCheck({
  name: 'ended-unexpectedly',
  title: 'ended unexpectedly',
  evidence: 'the process, as the kernel has it, and the registry entry it left behind',
  why: 'It was killed, or ended in the middle of its work.',
  isShared: true,
  thresholds: noThresholds,
  ladder: tells('repeat'),
  worth: onRecord(
    'the kernel says that the process is gone',
    'The process is gone and had not been closed at its prompt.',
  ),
  // A process that is gone does not come back.
  hold: provenPersistence,
  look({ view }) {
    if (view.reading.state !== 'ended') return { fine: 'it runs' };
    if (view.endedBadly === null) return { fine: 'it was closed at its prompt' };
    const { sinceMs } = view.reading;
    return {
      found: {
        severity: 'critical',
        confidence: 0.9,
        sinceMs,
        evidence: [{ source: 'process', atMs: sinceMs, text: `ended ${view.endedBadly}` }],
        action: null,
      },
    };
  },
});
