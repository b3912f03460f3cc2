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
  why: 'Nobody waits any more for work whose session is gone, and there is nobody to ask about it.',
  thresholds: noThresholds,
  ladder: tells('once'),
  worth: onRecord('the session it belongs to is gone', 'Its session was gone and it had not ended.'),
});
