import type { ResultSign } from '../../model/session-event.ts';
import type { Brought } from './novelty.ts';
import { keepNewest } from './recent.ts';
import type { Step } from './steps.ts';

const commandsMax = 30;
/** Steps after the last failure during which the series stands, whatever else is done. */
const standingSteps = 10;

interface Series {
  result: ResultSign;
  /** Failures, each after another change. */
  count: number;
  /** The number of changes when it last failed. */
  changes: number;
}

/**
 * A command that fails with the same words after one change after the other: the changes work, and change nothing. One
 * test less that fails, or another that does, is another failure.
 */
export class SameFailure {
  readonly #series = new Map<string, Series>();
  readonly #least: number;
  #changes = 0;
  #step = 0;
  #standsUntil = 0;

  constructor(least: number) {
    this.#least = least;
  }

  /** Undefined: such a series stands, and this step says nothing about it. */
  take({ call, result, failed, excused }: Step, { progress }: Brought): string | null | undefined {
    this.#step += 1;
    if (progress) this.#changes += 1;
    if (call.act === 'run' && !excused) {
      const series = failed ? this.#failed(call.hash, result) : null;
      if (series === null) this.#series.delete(call.hash);
      else if (series.count >= this.#least) {
        this.#standsUntil = this.#step + standingSteps;
        return `the same failure ${series.count} times, with changes in between`;
      }
    }
    return this.#step < this.#standsUntil ? undefined : null;
  }

  clear(): void {
    this.#series.clear();
    this.#standsUntil = 0;
  }

  #failed(command: string, result: ResultSign): Series {
    const known = this.#series.get(command);
    // Asked for only where the command failed before.
    if (known?.result.problem === result.problem) {
      if (known.changes < this.#changes) known.count += 1;
      known.changes = this.#changes;
      return known;
    }
    const series = { result, count: 1, changes: this.#changes };
    this.#series.set(command, series);
    keepNewest(this.#series, commandsMax);
    return series;
  }
}
