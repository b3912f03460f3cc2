import { noThresholds, onRecord, outsideCheck, tells } from '../check.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'spawns-failing': true;
  }
}

export const spawnsFailing = outsideCheck({
  name: 'spawns-failing',
  title: 'has background work of a kind that always fails',
  evidence: 'how all its background work of one kind ended',
  why: 'When all work of one kind fails, the cause is the kind, not the single piece of work.',
  thresholds: noThresholds,
  ladder: tells('once'),
  worth: onRecord('the words of the client, or of whoever tracked them', 'All were said to have failed.'),
});
