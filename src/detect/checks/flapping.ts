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
  why: 'What comes and goes by itself is no news the fourth time: the check cannot be relied on there.',
  thresholds: noThresholds,
  ladder: tells('once'),
  worth: onRecord('our own record of incidents', 'It had opened and closed by itself that often.'),
});
