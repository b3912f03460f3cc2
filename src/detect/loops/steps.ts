import type { RunEvent } from '../../model/run-event.ts';
import type { CallSign, ResultSign } from '../../model/session-event.ts';
import { keepNewest, Recent } from './recent.ts';

/** A call and its result: what the checks of the loop family look at. */
export interface CallStep {
  index: number;
  atMs: number;
  tool: string;
  call: CallSign;
  result: ResultSign;
  /** An error of the agent's own: not a person's refusal, not another call's failure. */
  failed: boolean;
  excused: boolean;
  /** Called before the result of the step before was there: calls of one breath are one decision. */
  inBatch: boolean;
  /** The step before was a wait: what is looked at now is what was waited for. */
  afterWait: boolean;
}

const openMax = 200;
const doneMax = 500;

export type StepCount = 'orphan_results' | 'repeated_calls';

/** Pairs calls with their results. What comes twice or out of order is counted and left out. */
export class StepPairs {
  readonly #open = new Map<string, { tool: string; call: CallSign; index: number }>();
  readonly #done = new Recent(doneMax);
  readonly #count: (what: StepCount) => void;
  #lastResult = Number.NEGATIVE_INFINITY;
  #waited = false;

  constructor(count: (what: StepCount) => void) {
    this.#count = count;
  }

  /** The step that this event completes. */
  take({ fact, index, atMs }: Pick<RunEvent, 'fact' | 'index' | 'atMs'>): CallStep | null {
    if (fact.kind === 'tool-call' && fact.sign !== undefined) {
      if (this.#open.has(fact.id) || this.#done.has(fact.id)) this.#count('repeated_calls');
      else {
        this.#open.set(fact.id, { tool: fact.tool, call: fact.sign, index });
        keepNewest(this.#open, openMax);
      }
      return null;
    }
    if (fact.kind !== 'tool-result' || fact.sign === undefined) return null;
    const open = this.#open.get(fact.id);
    if (open === undefined) {
      this.#count('orphan_results');
      return null;
    }
    this.#open.delete(fact.id);
    this.#done.add(fact.id);
    const excused = fact.sign.excuse !== null;
    const inBatch = open.index < this.#lastResult;
    this.#lastResult = index;
    const afterWait = this.#waited;
    this.#waited = open.call.act === 'wait';
    return {
      index,
      atMs,
      tool: open.tool,
      call: open.call,
      result: fact.sign,
      failed: (fact.isError || (open.call.act === 'change' && answersError(fact.sign))) && !excused,
      excused,
      inBatch,
      afterWait,
    };
  }
}

/** A longer answer says more than that it came to nothing. */
const answerChars = 500;

const errorAnswer = /^\{\s*"error"\s*:(?!\s*(?:null|false|0|""|\{\s*\}|\[\s*\])\s*[,}])/;

/** Tools of one's own often have no error flag; a change that answers with an error was not made. */
function answersError(result: ResultSign): boolean {
  return result.chars <= answerChars && errorAnswer.test(result.lead);
}

/** Longer than a bare exit code in any language, shorter than an error with a name in it. */
const bareChars = 24;

/** A search that finds nothing ends with 1 and says no more than that: it is an answer. */
export function foundNothing({ call, result, failed }: CallStep): boolean {
  return failed && call.act === 'look' && result.chars <= bareChars;
}
