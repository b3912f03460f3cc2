import { readsFile } from '../../clients/acts.ts';
import { allTools } from '../../clients/clients.ts';
import { digest } from '../../model/digest.ts';
import { Recent } from './recent.ts';
import { RecentOutputs } from './recent-outputs.ts';
import type { CallStep } from './steps.ts';

/** What a step brought, seen against everything since the last new input. */
export interface Brought {
  /** This very call with this very output was there before. */
  again: boolean;
  /** A call that was not made before. */
  newCall: boolean;
  /** The same call had another output the last time. */
  changed: boolean;
  /** A change that was made, and was not made before. */
  progress: boolean;
  /** Nothing that was not known: a failure, an empty search, an output already seen. */
  nothing: boolean;
}

const seenMax = 300;
/** A longer output says more than that there is nothing. */
const shortChars = 260;

/**
 * Remembers what was already seen, not only what came last: loops of period 3 to 6 have no consecutive repeat.
 * Constant cost per step.
 */
export class Novelty {
  /** By their calls. */
  readonly #pairs = new RecentOutputs(seenMax);
  readonly #outputs = new RecentOutputs(seenMax);
  readonly #kinds = new Recent(seenMax);
  readonly #changes = new Recent(seenMax);

  /** New input: from here on everything may be worth another look. */
  clear(): void {
    for (const seen of [this.#pairs, this.#outputs, this.#kinds, this.#changes]) seen.clear();
  }

  take(step: CallStep): Brought {
    const { call, result } = step;
    const made = call.act === 'change' && !step.failed && !step.excused;
    const progress = made && !this.#changes.has(call.hash);
    const last = this.#pairs.last(call.hash);
    const newCall = last === undefined;
    const again = this.#pairs.has(call.hash, result);
    const changed = last !== undefined && last.hash !== result.hash;
    const empty = result.chars === 0;
    const short = !empty && result.chars <= shortChars && call.act === 'look' && !isValue(result.lead);
    // All "No matches found for …" are one.
    const kind = short ? kindOf(step) : '';
    const nothing =
      !progress &&
      call.act !== 'wait' &&
      !step.excused &&
      (step.failed ||
        (again && !changed) ||
        (made && this.#changes.has(call.hash)) ||
        (empty && call.act === 'look') ||
        // The same call with another output is what one polls for.
        (short && newCall && this.#kinds.has(kind) && !readsFile(step.tool, call.target, allTools)) ||
        (result.chars > shortChars && call.act === 'look' && this.#outputs.has(result.start, result)));
    if (progress) {
      // The files are others now: the same look may show something else.
      this.#outputs.clear();
      this.#kinds.clear();
    }
    if (made) this.#changes.add(call.hash);
    this.#pairs.add(call.hash, result);
    this.#outputs.add(result.start, result);
    if (short) this.#kinds.add(kind);
    return { again, newCall, changed, progress, nothing };
  }
}

/** A single word, as "200", "ok" or a path, answers its question even if it did so before; a sentence said again does not. */
function isValue(text: string): boolean {
  const word = text.trim();
  return !/\s/.test(word) && /[\p{L}\p{N}]/u.test(word);
}

/** The beginning of an output without the call's own words; of a failure also without numbers. */
function kindOf({ call, result, failed }: CallStep): string {
  const own = new Set(call.target.toLowerCase().match(/[\p{L}\p{N}_$]+/gu) ?? []);
  const words = result.lead.toLowerCase().match(failed ? /[\p{L}_$]+/gu : /[\p{L}\p{N}_$]+/gu) ?? [];
  return digest(words.filter((word) => !own.has(word)).join(' '));
}
