import type { ResultSign } from '../../model/session-event.ts';
import type { Brought } from './novelty.ts';
import type { CallStep } from './steps.ts';

const waitMs = 60 * 60_000;
const looksMin = 10;

/** Waiting is no loop, but not for ever: an hour of looks at what never changes. Without times nothing is known of it. */
export class LongWait {
  #sinceMs = Number.NaN;
  #looks = 0;
  #seen: ResultSign | null = null;

  take({ call, result, failed, afterWait, atMs }: CallStep, { again, nothing }: Brought): string | null {
    if (call.act !== 'wait' && !(afterWait && again)) {
      if (!again && !nothing && call.act !== 'note') this.clear();
      return null;
    }
    const seen = this.#seen;
    // The hash of an error leaves out its numbers, and they may be what is waited for.
    const isOther =
      result.chars > 0 && seen !== null && (seen.hash !== result.hash || (failed && seen.problem !== result.problem));
    if (isOther || this.#looks === 0) {
      this.clear();
      this.#sinceMs = atMs;
    }
    // A sleep says nothing of what is waited for.
    if (result.chars > 0) this.#seen = result;
    this.#looks += 1;
    const minutes = Math.floor((atMs - this.#sinceMs) / 60_000);
    return this.#looks >= looksMin && minutes * 60_000 >= waitMs
      ? `${this.#looks} looks in ${minutes} min at what does not change`
      : null;
  }

  clear(): void {
    this.#looks = 0;
    this.#seen = null;
  }
}
