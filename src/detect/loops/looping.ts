import { loopCheck } from '../check.ts';
import { Window } from './check.ts';
import { LongWait } from './long-wait.ts';
import type { CallStep } from './steps.ts';

const windowSteps = 12;

interface Pair extends Pick<CallStep, 'call' | 'result'> {
  /** How many new commands had worked until then. */
  news: number;
  /** It worked, and a new one had worked since it last did. */
  proves: boolean;
}

declare module '../../model/check.ts' {
  interface CheckNames {
    looping: true;
  }
}

export const looping = loopCheck({
  name: 'looping',
  title: 'goes in circles',
  evidence: 'calls, with a hash of their arguments and of their output',
  why: 'The same call with the same output tells nothing new, whatever came in between, and nobody makes the same change twice on purpose. Waiting, and what is looked at after it, does not count for an hour. A new output, a new change, or a command that works after a change starts the count over.',
  start(limits) {
    const pairs = new Window<Pair>(windowSteps);
    const changes = new Window<string>(windowSteps);
    const waits = new LongWait();
    let row = 0;
    let news = 0;
    const clear = () => {
      waits.clear();
      pairs.clear();
      changes.clear();
      row = 0;
    };
    return {
      clear,
      take(step, brought) {
        const { call, result, excused, failed, afterWait } = step;
        const { again, newCall, changed, progress } = brought;
        const waited = waits.take(step, brought);
        if (call.act === 'wait' || call.act === 'note' || excused || (afterWait && again)) return waited;
        if (progress) {
          pairs.clear();
          row = 0;
        }
        // A test that passes after each of many new commands tells that they did no harm.
        const isProof = call.act === 'run' && !failed;
        const last = pairs.last((other) => other.call.hash === call.hash);
        const pair = { call, result, news, proves: isProof && last !== undefined && last.news < news };
        // Once is no rule: in the second lap of any cycle all of the first was new.
        if (changed || (pair.proves && last?.proves)) {
          pairs.drop((other) => other.call.hash === call.hash);
          row = 0;
        } else row = again ? row + 1 : 0;
        if (isProof && newCall) news += 1;
        pairs.add(pair);
        changes.add(call.act === 'change' ? call.hash : '');
        // Not asked of itself: a hash is dear.
        const same = pairs.count((other) => other === pair || isSame(pair, other));
        const made = call.act === 'change' ? changes.count((other) => other === call.hash) : 0;
        if (same >= limits.sameSteps) return `the same call with the same output ${same} times in ${pairs.size} steps`;
        if (made >= limits.sameSteps) return `the same change ${made} times in ${changes.size} steps`;
        if (row >= limits.againSteps) return `${row} steps in a row that were all made before`;
        // Another step is no second reading of a repeat, nor the end of it.
        return pairs.most(isSame) >= limits.sameSteps ? undefined : null;
      },
    };
  },
});

function isSame(a: Pair, b: Pair): boolean {
  return a.call.hash === b.call.hash && a.result.hash === b.result.hash;
}
