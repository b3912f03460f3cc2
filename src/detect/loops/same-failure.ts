import type { ResultSign } from '../../model/session-event.ts';
import type { Brought } from './novelty.ts';
import { keepNewest, Recent } from './recent.ts';
import type { CallStep } from './steps.ts';

const commandsMax = 30;
/** Failures that begin alike. */
const alikeMax = 5;
/** Steps after the last failure during which the series stands, whatever else is done. */
const standingSteps = 10;
const filesMax = 100;
/** No longer than an exit code by itself. */
const codeChars = 16;

interface Series {
  result: ResultSign;
  /** Failures, each after another change. */
  count: number;
  /** The number of changes when it last failed, and of those that went over something again. */
  changes: number;
  tries: number;
}

/**
 * Commands that fail with the same words after one change after the other: the changes work, and change nothing. One
 * test less that fails, or another that does, is another failure; a command that says something else ends the series.
 */
export class SameFailure {
  /** By how the failures begin. */
  readonly #series = new Map<string, Series[]>();
  /** The failure of each command. */
  readonly #failed = new Map<string, Series>();
  readonly #least: number;
  readonly #files = new Recent(filesMax);
  #changes = 0;
  #tries = 0;
  #step = 0;
  #standsUntil = 0;

  constructor(least: number) {
    this.#least = least;
  }

  /** Undefined: such a series stands, and this step says nothing about it. */
  take({ call, result, failed, excused }: CallStep, { progress }: Brought): string | null | undefined {
    this.#step += 1;
    if (progress) {
      this.#changes += 1;
      if (this.#isAnotherTry(call.target)) this.#tries += 1;
    }
    if (call.act === 'run' && !excused) {
      // A bare exit code does not say what failed.
      const series = failed && result.chars > codeChars ? this.#seriesOf(result) : null;
      const before = this.#failed.get(call.hash);
      if (before !== undefined && before !== series) before.count = 0;
      if (series === null) this.#failed.delete(call.hash);
      else {
        this.#failed.set(call.hash, series);
        keepNewest(this.#failed, commandsMax);
        const isTried = series.tries < this.#tries || (before === undefined && series.changes < this.#changes);
        if (series.count === 0 || isTried) series.count += 1;
        series.changes = this.#changes;
        series.tries = this.#tries;
        if (series.count >= this.#least) {
          this.#standsUntil = this.#step + standingSteps;
          return `the same failure ${series.count} times, with changes in between`;
        }
      }
    }
    return this.#step < this.#standsUntil ? undefined : null;
  }

  clear(): void {
    this.#series.clear();
    this.#failed.clear();
    this.#files.clear();
    this.#standsUntil = 0;
  }

  /** The first change of a file may be work of its own, and what a command said before may have been there always. */
  #isAnotherTry(target: string): boolean {
    const file = /^\*\*\* (?:Update|Add|Delete) File: (.+)$/m.exec(target)?.[1] ?? target;
    return /\s/.test(file) || !this.#files.add(file);
  }

  /** What a failure says is asked for only where one began alike. */
  #seriesOf(result: ResultSign): Series {
    const alike = this.#series.get(result.start) ?? [];
    const known = alike.find((series) => series.result.problem === result.problem);
    if (known !== undefined) return known;
    const series = { result, count: 0, changes: this.#changes, tries: this.#tries };
    this.#series.set(result.start, [...alike.slice(1 - alikeMax), series]);
    keepNewest(this.#series, commandsMax);
    return series;
  }
}
