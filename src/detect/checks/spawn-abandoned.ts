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
  evidence: 'its output file',
  why: 'Its agent was asked about it and nothing new came since, so nobody seems to look after it.',
  thresholds: {
    'spawn.abandonMinutes': minutes(30, 'How long background work may show nothing new before it counts as abandoned.'),
  },
  ladder: { template: 'spawn-abandoned', promptsMax: 1, tells: 'once', moment: 'turn-over', purpose: 'asks' },
  worth: {
    ground: { by: 'record', why: 'the output file has not changed' },
    right: 'The work failed or never came back. Wrong: it went on or finished by itself.',
    verdicts: { failed: 'right', 'by-itself': 'wrong' },
  },
});
