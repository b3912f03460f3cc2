import { trendCheck } from '../check.ts';
import { foundNothing } from '../loops/steps.ts';
import { factor } from '../thresholds.ts';
import { counts } from './check.ts';

const recentSteps = 10;
const earlierMin = 15;
const failuresMin = 4;
/** So that a run without any failure before is not infinitely worse after one. */
const rateFloor = 0.1;

declare module '../../model/check.ts' {
  interface CheckNames {
    'error-acceleration': true;
  }
}

export const errorAcceleration = trendCheck({
  name: 'error-acceleration',
  title: 'fails more and more',
  thresholds: {
    'judging.errorFactor': factor(3, 'How many times as often as before steps have to fail.'),
  },
  evidence:
    'the error flag of results, without refusals, failures of calls made together, and searches that find nothing',
  why: 'Steps fail several times as often as in the run so far, more and more, with no change that works in between. A run that is fixing something makes changes that work, and one that has always failed does not get worse.',
  confidence: 0.7,
  lasts: 'turn',
  start(limits) {
    const recent: boolean[] = [];
    const earlier = { steps: 0, failures: 0 };
    const leave = (failed: boolean | undefined) => {
      earlier.steps += 1;
      if (failed) earlier.failures += 1;
    };
    return (moment) => {
      const over = moment.kind === 'fresh' || (moment.kind === 'step' && moment.brought.progress);
      if (over) for (const failed of recent.splice(0)) leave(failed);
      if (moment.kind !== 'step' || !counts(moment.step) || foundNothing(moment.step)) return undefined;
      // Calls of one breath fail for one reason.
      if (moment.step.inBatch && moment.step.failed && recent.at(-1) === true) return undefined;
      recent.push(moment.step.failed);
      if (recent.length > recentSteps) leave(recent.shift());
      const failures = recent.filter((failed) => failed).length;
      const late = recent.slice(-recentSteps / 2).filter((failed) => failed).length;
      const before = Math.max(rateFloor, earlier.failures / Math.max(1, earlier.steps));
      const times = failures / recent.length / before;
      return failures >= failuresMin &&
        late >= failures - late &&
        earlier.steps >= earlierMin &&
        times >= limits()['judging.errorFactor']
        ? `${failures} of the last ${recent.length} steps failed, ${earlier.failures} of ${earlier.steps} before`
        : null;
    };
  },
});
