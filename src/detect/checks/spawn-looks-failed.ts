import { noThresholds, outsideCheck, shownOnly } from '../check.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'spawn-looks-failed': true;
  }
}

export const spawnLooksFailed = outsideCheck({
  name: 'spawn-looks-failed',
  title: 'has background work that seems to have failed',
  evidence: 'the last line of its output',
  why: 'A last line that reads like an error proves nothing, so it is only shown, and a stall counts sooner.',
  thresholds: noThresholds,
  ladder: shownOnly,
  worth: {
    ground: { by: 'none', why: 'a last line that reads like an error proves nothing', measured: null },
    right: 'The work failed. Wrong: it went on or finished.',
    verdicts: { failed: 'right', 'by-itself': 'wrong' },
  },
});
