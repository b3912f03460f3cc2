import { type LoopCheck, Window } from './check.ts';

export const noProgress: LoopCheck = {
  name: 'no-progress',
  evidence: 'what each result brought: failures, empty searches, outputs and kinds of output already seen',
  why: 'Most agents that are lost never repeat a call: they search for names that do not exist. What the results bring tells it; a change that works, a commit or a new prompt starts over. Calls of one breath count as one.',
  start(limits) {
    const window = new Window<boolean>(10);
    return {
      clear: () => window.clear(),
      take({ call, excused, inBatch, afterWait }, { again, progress, nothing }) {
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
      },
    };
  },
};
