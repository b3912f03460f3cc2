import { plainName } from '../../clients/acts.ts';
import type { ResultSign } from '../../model/session-event.ts';
import { trendCheck } from '../check.ts';
import { keepNewest } from '../loops/recent.ts';
import type { CallStep } from '../loops/steps.ts';
import { count } from '../thresholds.ts';
import { counts } from './check.ts';

const filesMax = 200;
/** Steps after which another look at a file is no repetition. */
const memorySteps = 40;

declare module '../../model/check.ts' {
  interface CheckNames {
    repetition: true;
  }
}

export const repetition = trendCheck({
  name: 'repetition',
  title: 'reads or edits the same file in vain, over and over',
  thresholds: {
    'judging.sameFile': count(5, 'How often an unchanged file has to be read, or an edit of one file has to fail.'),
  },
  evidence: 'the file a call is about, a hash of what was read, failed edits',
  why: 'A file that has not changed says the same however often it is read. Reading another part of it, or reading it after an edit, does not count. An agent whose edits of one file keep failing does not know what is in the file.',
  confidence: 0.7,
  lasts: 'turn',
  start(limits) {
    const seen = new Map<string, { result: ResultSign | null; steps: number[] }>();
    let now = 0;
    return (moment) => {
      if (moment.kind === 'fresh') seen.clear();
      if (moment.kind !== 'step' || !counts(moment.step)) return undefined;
      now += 1;
      const { call, failed } = moment.step;
      // What is in the file is known again.
      if (call.act === 'change' && !failed) seen.delete(`edit ${call.target}`);
      const what = about(moment.step);
      if (what === null) return null;
      const known = seen.get(what.file);
      // Calls of one breath know nothing of each other's results.
      const isSame = known !== undefined && known.result?.hash === what.result?.hash;
      if (moment.step.inBatch && isSame) return undefined;
      const steps = isSame ? known.steps.filter((step) => now - step < memorySteps) : [];
      steps.push(now);
      seen.delete(what.file);
      seen.set(what.file, { result: what.result, steps });
      keepNewest(seen, filesMax);
      return steps.length >= limits()['judging.sameFile']
        ? `${what.says} ${steps.length} times in ${memorySteps} steps`
        : null;
    };
  },
});

/** Readers of files; other looks, such as the state of a repository, are asked again and again with good reason. */
const readers = /^(read|open|view|read_file|open_file|view_file|notebookread)$/;

function about({
  tool,
  call,
  result,
  failed,
}: CallStep): { file: string; result: ResultSign | null; says: string } | null {
  if (call.target === '') return null;
  if (call.act === 'look' && !failed && result.chars > 0 && readers.test(plainName(tool)))
    return { file: `read ${call.hash}`, result, says: 'the same unchanged file was read' };
  if (call.act === 'change' && failed)
    return { file: `edit ${call.target}`, result: null, says: 'an edit of one file failed' };
  return null;
}
