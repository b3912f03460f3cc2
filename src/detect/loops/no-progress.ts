import { loopCheck } from '../check.ts';
import { Window } from './check.ts';
import type { Brought } from './novelty.ts';
import { SameFailure } from './same-failure.ts';
import type { CallStep } from './steps.ts';

/** Told of at the tenth, by the second reading: whoever fixes something needs a few tries. */
const sameFailures = 9;

declare module '../../model/check.ts' {
  interface CheckNames {
    'no-progress': true;
  }
}

export const noProgress = loopCheck({
  name: 'no-progress',
  title: 'finds nothing new',
  evidence:
    'what each result brought: failures, empty searches, outputs and kinds of output seen before; what failures say',
  why: 'Most agents that are lost never repeat a call: they search for names that do not exist. So the results are looked at. A change that works, a commit or a new prompt starts the count over; calls made together count as one. Commands that fail with the same words after each of nine changes are no progress either, nor are seven replies in a row without a call.',
  start(limits) {
    const window = new Window<boolean>(10);
    const failures = new SameFailure(sameFailures);
    const brings = ({ call, excused, inBatch, afterWait }: CallStep, { again, progress, nothing }: Brought) => {
      if (call.act === 'wait' || call.act === 'note' || excused || (afterWait && again)) return null;
      if (progress) window.clear();
      const before = window.items.at(-1);
      if (inBatch && before !== undefined) {
        window.put(before && nothing);
        return undefined;
      }
      window.add(nothing);
      const count = window.count((one) => one);
      if (count < limits.nothingOfTen) return null;
      // A step that brings something is no second reading of those before it.
      return nothing ? `${count} of the last ${window.size} steps brought nothing new` : undefined;
    };
    return {
      clear: () => {
        window.clear();
        failures.clear();
      },
      take(step, brought) {
        const same = failures.take(step, brought);
        const word = brings(step, brought);
        return same === null || typeof word === 'string' ? word : same;
      },
    };
  },
});
