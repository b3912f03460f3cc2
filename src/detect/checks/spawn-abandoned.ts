import { outsideCheck } from '../check.ts';
import { minutes } from '../thresholds.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'spawn-abandoned': true;
  }
}

export const spawnAbandoned = outsideCheck({
  name: 'spawn-abandoned',
  title: 'has background work that counts as abandoned',
  evidence: 'its output file, from outside',
  why: 'Whoever was asked about a stall and brought nothing new since has given it up, or nobody is there to take it up.',
  thresholds: {
    'spawn.abandonMinutes': minutes(
      30,
      'How long background work stays without any sign before it counts as abandoned.',
    ),
  },
  ladder: { template: 'spawn-abandoned', promptsMax: 1, tells: 'once', moment: 'turn-over', purpose: 'asks' },
  worth: {
    ground: { by: 'record', why: 'its output has not changed, by the file itself' },
    right: 'The work failed or never came back. Wrong: it went on or finished by itself.',
    verdicts: { failed: 'right', 'by-itself': 'wrong' },
  },
});
