import type { Brought } from './novelty.ts';
import type { CallStep } from './steps.ts';

/** What the checks are tuned by. How they were chosen: docs/reports/eval-thresholds.md. */
export interface LoopLimits {
  /** The same call with the same output, this often among the last `windowSteps`. */
  sameSteps: number;
  /** Steps in a row that were all there before, in any order. */
  againSteps: number;
  /** Failures of the agent's own among the last ten steps. */
  failuresOfTen: number;
  /** Steps that brought nothing, among the last ten. */
  nothingOfTen: number;
  /** Times a file was changed back to what it was. */
  reverts: number;
}

export const loopLimits: LoopLimits = {
  sameSteps: 4,
  againSteps: 4,
  failuresOfTen: 6,
  nothingOfTen: 8,
  reverts: 2,
};

/** One check over one run. Constant cost and memory per step. */
export interface LoopFold {
  /** What is wrong, in words, while it is; undefined: the step is part of one that was looked at. */
  take(step: CallStep, brought: Brought): string | null | undefined;
  clear(): void;
}

/** The last few values, the oldest first. */
export class Window<T> {
  readonly #items: T[] = [];
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  add(item: T): void {
    this.#items.push(item);
    if (this.#items.length > this.#size) this.#items.shift();
  }

  /** Instead of the newest, if there is one. */
  put(item: T): void {
    this.#items.pop();
    this.add(item);
  }

  count(test: (item: T) => boolean): number {
    let count = 0;
    for (const item of this.#items) if (test(item)) count += 1;
    return count;
  }

  last(test: (item: T) => boolean): T | undefined {
    return this.#items.findLast(test);
  }

  drop(test: (item: T) => boolean): void {
    for (let index = this.#items.length - 1; index >= 0; index -= 1) {
      if (test(this.#items[index] as T)) this.#items.splice(index, 1);
    }
  }

  /** How often the most frequent of them is there. */
  most(isSame: (a: T, b: T) => boolean): number {
    const items = this.#items;
    let most = 0;
    // Only from each one on: an earlier one that is the same has counted it already.
    for (let first = 0; first < items.length - most; first += 1) {
      const one = items[first] as T;
      let count = 1;
      for (let next = first + 1; next < items.length; next += 1) if (isSame(one, items[next] as T)) count += 1;
      if (count > most) most = count;
    }
    return most;
  }

  /** The oldest first. */
  get items(): readonly T[] {
    return this.#items;
  }

  get size(): number {
    return this.#items.length;
  }

  clear(): void {
    this.#items.length = 0;
  }
}
