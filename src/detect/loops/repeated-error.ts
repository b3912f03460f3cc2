import { loopCheck } from '../check.ts';
import { Window } from './check.ts';
import { foundNothing } from './steps.ts';

declare module '../../model/check.ts' {
  interface CheckNames {
    'repeated-error': true;
  }
}

export const repeatedError = loopCheck({
  name: 'repeated-error',
  title: 'fails again and again',
  evidence:
    'the error flag of results, without refusals by a person, failures of calls made together, and searches that find nothing',
  why: 'An agent that is fixing something fails between changes that work. One that fails most of the time without any is lost. Calls made together count as one.',
  start(limits) {
    const failures = new Window<boolean>(10);
    return {
      clear: () => failures.clear(),
      take(step, { again, progress }) {
        const { call, excused, inBatch, afterWait } = step;
        const failed = step.failed && !foundNothing(step);
        if (call.act === 'wait' || call.act === 'note' || excused || (afterWait && again)) return null;
        if (progress) failures.clear();
        const before = failures.items.at(-1);
        if (inBatch && before !== undefined) {
          failures.put(before && failed);
          return undefined;
        }
        failures.add(failed);
        const count = failures.count((one) => one);
        if (count < limits.failuresOfTen) return null;
        // A step that works is no second reading of the failures before it.
        return failed ? `${count} of the last ${failures.size} steps failed` : undefined;
      },
    };
  },
});
