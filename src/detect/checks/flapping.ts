import { noThresholds, onRecord, outsideCheck, tells } from '../check.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    flapping: true;
  }
}

export const flapping = outsideCheck({
  name: 'flapping',
  title: 'has a trouble that comes and goes',
  evidence: 'our own record of incidents',
  why: 'A trouble that keeps coming and going by itself is not worth a message each time, and the check cannot be relied on there.',
  thresholds: noThresholds,
  ladder: tells('once'),
  worth: onRecord('our own record of incidents', 'It had come and gone by itself that often.'),
});
