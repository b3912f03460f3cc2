import type { RunEvent } from '../../model/run-event.ts';
import type { CallSign, ResultSign } from '../../model/session-event.ts';

/** A call and its result: what the checks of the loop family look at. */
export interface Step {
  /** Where the call was made, and where its result is. */
  calledAt: number;
  index: number;
  atMs: number;
  tool: string;
  call: CallSign;
  result: ResultSign;
  /** An error of the agent's own: not a person's refusal, not another call's failure. */
  failed: boolean;
  excused: boolean;
}

const openMax = 200;
const doneMax = 500;

export type StepCount = 'orphan_results' | 'repeated_calls';

/** Pairs calls with their results. What comes twice or out of order is counted and left out. */
export class StepPairs {
  readonly #open = new Map<string, { tool: string; call: CallSign; index: number }>();
  readonly #done = new Set<string>();
  readonly #count: (what: StepCount) => void;

  constructor(count: (what: StepCount) => void) {
    this.#count = count;
  }

  /** The step that this event completes. */
  take({ fact, index, atMs }: Pick<RunEvent, 'fact' | 'index' | 'atMs'>): Step | null {
    if (fact.kind === 'tool-call' && fact.sign !== undefined) {
      if (this.#open.has(fact.id) || this.#done.has(fact.id)) this.#count('repeated_calls');
      else
        keep(this.#open, openMax, (open) => open.set(fact.id, { tool: fact.tool, call: fact.sign as CallSign, index }));
      return null;
    }
    if (fact.kind !== 'tool-result' || fact.sign === undefined) return null;
    const open = this.#open.get(fact.id);
    if (open === undefined) {
      this.#count('orphan_results');
      return null;
    }
    this.#open.delete(fact.id);
    keep(this.#done, doneMax, (done) => done.add(fact.id));
    const excused = fact.sign.excuse !== null;
    return {
      calledAt: open.index,
      index,
      atMs,
      tool: open.tool,
      call: open.call,
      result: fact.sign,
      failed: fact.isError && !excused,
      excused,
    };
  }
}

/** The oldest goes when there is no more room. */
export function keep<T extends Map<string, unknown> | Set<string>>(
  items: T,
  max: number,
  add: (items: T) => void,
): void {
  add(items);
  if (items.size <= max) return;
  const oldest = items.keys().next().value;
  if (oldest !== undefined) items.delete(oldest);
}
