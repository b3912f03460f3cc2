import type { Brought } from '../loops/novelty.ts';
import type { CallStep } from '../loops/steps.ts';
import type { Spent } from './spending.ts';

/** Something the trends are made of. */
export type TrendEvent =
  | { kind: 'step'; step: CallStep; brought: Brought }
  | { kind: 'request'; spent: Spent }
  /** New input: a person's word, or (`memory`) a conversation cut short by a compaction. */
  | { kind: 'fresh'; memory: boolean };

/** What is wrong, in words; null: it is fine; undefined: this moment says nothing about it. */
type TrendWord = string | null | undefined;

/** One check over one conversation. Constant cost and memory per moment. */
export type TrendFold = (moment: TrendEvent) => TrendWord;

/** Of the values from `from` to before `to`. */
export function median(values: readonly number[], from = 0, to = values.length): number {
  // Asked at every request: a few numbers are put in order faster by hand than by a sort that is called for it.
  let count = 0;
  for (let index = from; index < to; index += 1) {
    const value = values[index] as number;
    let place = count;
    for (; place > 0 && (sorted[place - 1] as number) > value; place -= 1) sorted[place] = sorted[place - 1] as number;
    sorted[place] = value;
    count += 1;
  }
  return count === 0 ? 0 : (sorted[count >> 1] as number);
}

/** More than any check looks at. */
const sorted = new Float64Array(256);

/** Steps that are the agent's own search for a way: waiting, notes and what a person refused are not. */
export function counts({ call, excused }: CallStep): boolean {
  return call.act !== 'wait' && call.act !== 'note' && !excused;
}
