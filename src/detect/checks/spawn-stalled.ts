import { outsideCheck } from '../check.ts';
import { minutes } from '../thresholds.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'spawn-stalled': true;
  }
}

export const spawnStalled = outsideCheck({
  name: 'spawn-stalled',
  title: 'has background work that shows nothing new',
  evidence: 'its output file',
  why: 'Work that shows nothing new for so long is more often stuck than slow. Its agent is asked; you are told only where it cannot be asked.',
  thresholds: {
    'spawn.stallMinutes': minutes(
      15,
      'How long the output file of background work may stay unchanged before the work counts as stalled.',
    ),
  },
  ladder: { template: 'spawn-stalled', promptsMax: 1, tells: 'instead', moment: 'turn-over', purpose: 'asks' },
  worth: {
    ground: { by: 'record', why: 'the output file has not changed' },
    right: 'The work failed or was given up. Wrong: it went on or finished by itself.',
    verdicts: { failed: 'right', 'by-itself': 'wrong' },
  },
});
