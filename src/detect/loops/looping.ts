import { type LoopCheck, Window } from './check.ts';
import type { Step } from './steps.ts';

const windowSteps = 12;

export const looping: LoopCheck = {
  name: 'looping',
  evidence: 'calls, a hash of their arguments and of their output',
  why: 'An equal call that had an equal output before cannot tell anything new, whatever came in between; a change made twice is not meant. Waiting is left out, a changed output or a new change starts over.',
  start(limits) {
    const pairs = new Window<Pick<Step, 'call' | 'result'>>(windowSteps);
    const changes = new Window<string>(windowSteps);
    let row = 0;
    const clear = () => {
      pairs.clear();
      changes.clear();
      row = 0;
    };
    return {
      clear,
      take({ call, result, excused }, { again, progress }) {
        if (call.act === 'wait' || call.act === 'note' || excused) return null;
        if (progress) {
          pairs.clear();
          row = 0;
        }
        pairs.add({ call, result });
        changes.add(call.act === 'change' ? call.hash : '');
        row = again ? row + 1 : 0;
        const same = pairs.most(isSame);
        const made = call.act === 'change' ? changes.count((other) => other === call.hash) : 0;
        if (same >= limits.sameSteps) return `the same call with the same output ${same} times in ${pairs.size} steps`;
        if (made >= limits.sameSteps) return `the same change ${made} times in ${changes.size} steps`;
        return row >= limits.againSteps ? `${row} steps in a row that were all there before` : null;
      },
    };
  },
};

function isSame(a: Pick<Step, 'call' | 'result'>, b: Pick<Step, 'call' | 'result'>): boolean {
  return a.call.hash === b.call.hash && a.result.hash === b.result.hash;
}
