import { noThresholds, onRecord, outsideCheck } from '../check.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'spawn-failed': true;
  }
}

export const spawnFailed = outsideCheck({
  name: 'spawn-failed',
  title: 'has background work that failed',
  evidence: 'the word of its client, or of whoever tracks it',
  why: 'A failure that nobody takes up is found only in the morning.',
  thresholds: noThresholds,
  ladder: { template: 'spawn-failed', promptsMax: 1, tells: 'instead', moment: 'turn-over', purpose: 'asks' },
  worth: onRecord('the word of the client, or of whoever tracked it', 'It was said to have failed.'),
});
