import { noThresholds, onRecord, outsideCheck, tells } from '../check.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'orphaned-work': true;
  }
}

export const orphanedWork = outsideCheck({
  name: 'orphaned-work',
  title: 'left background work behind',
  evidence: 'the session that work belongs to',
  why: 'The session that began the work is gone, so no agent waits for the work or can be asked about it.',
  thresholds: noThresholds,
  ladder: tells('once'),
  worth: onRecord('the session it belongs to is gone', 'The session was gone and the work had not ended.'),
});
