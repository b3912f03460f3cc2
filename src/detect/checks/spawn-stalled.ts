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
  evidence: 'its output file, from outside',
  why: 'Work that shows nothing new for so long is more often stuck than slow; its agent is asked, and a human only where that cannot be.',
  thresholds: {
    'spawn.stallMinutes': minutes(
      15,
      'How long the output file of background work may stay unchanged before the work counts as stalled.',
    ),
  },
  ladder: { template: 'spawn-stalled', promptsMax: 1, tells: 'instead', moment: 'turn-over', purpose: 'asks' },
  worth: {
    ground: { by: 'record', why: 'its output has not changed, by the file itself' },
    right: 'The work failed or was given up. Wrong: it went on or finished by itself.',
    verdicts: { failed: 'right', 'by-itself': 'wrong' },
  },
});
