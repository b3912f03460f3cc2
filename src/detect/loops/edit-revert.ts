import { loopCheck } from '../check.ts';
import { Window } from './check.ts';

const windowEdits = 20;

declare module '../../model/check.ts' {
  interface CheckNames {
    'edit-revert': true;
  }
}

export const editRevert = loopCheck({
  name: 'edit-revert',
  title: 'edits back and forth',
  evidence: 'what each edit takes out and puts in',
  why: 'To put back once what was just taken out is a correction; to do it again and again is not.',
  start(limits) {
    const edits = new Window<string>(windowEdits);
    let reverts = 0;
    return {
      clear: () => {
        edits.clear();
        reverts = 0;
      },
      take({ call, failed, excused }) {
        if (call.edit === null || failed || excused || call.edit.from === call.edit.to) return null;
        const { from, to } = call.edit;
        if (edits.count((other) => other === `${call.target}\n${to}\n${from}`) > 0) reverts += 1;
        edits.add(`${call.target}\n${from}\n${to}`);
        return reverts >= limits.reverts ? `an edit was taken back ${reverts} times` : null;
      },
    };
  },
});
