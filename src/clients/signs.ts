import type { CallSign, ResultSign } from '../model/session-event.ts';
import { actOf, commonTools, isQuick } from './acts.ts';
import { inputDigest, squeezedDigest } from './call-digest.ts';
import type { JsonObject } from './json.ts';
import { problemOf } from './problem.ts';
import { settledDigest, settledStart } from './settled.ts';

const targetCharsMax = 300;
const leadCharsMax = 300;
const headCharsMax = 400;
/** Up to that it may be asked how long an output is. */
const shortCharsMax = 600;
/** Enough to tell outputs apart; a huge one costs no more than this. */
const comparedCharsMax = 16_000;

/** How a call is known again: by its tool and arguments, whatever the blanks. `text` is the command or the path; `tools`: the client's. */
export function callSign(tool: string, text: string, args: string | JsonObject, tools = commonTools): CallSign {
  const act = actOf(tool, text, tools);
  const target = text.slice(0, targetCharsMax);
  // Words about a call are written anew each time and change nothing.
  const hash = typeof args === 'string' ? squeezedDigest(`${tool}\n`, args) : inputDigest(tool, args, 'description');
  return { hash, target, act, quick: isQuick(act, tool, text, tools), edit: null };
}

/** What is known of an output besides the text that is given. */
interface Known {
  /** What its record says of the whole, of which the text is a part. */
  chars?: number;
  hash?: string | null;
  /** Gives the whole, of which the text is the start. */
  whole?: (() => string) | null;
  /** The client's own. */
  excuses?: readonly Excuses[];
}

/** How a result is known again: without what changes by itself from one run of the same command to the next. */
export function resultSign(text: string, isError: boolean, known: Known = {}): ResultSign {
  return new OutputSign(text, isError, known);
}

/** The hash is made when somebody asks for it: most outputs are like no other from their start. Then the text goes. */
class OutputSign implements ResultSign {
  readonly start: string;
  readonly chars: number;
  readonly excuse: ResultSign['excuse'];
  readonly #isError: boolean;
  #hash: string | null;
  #problem: string | null = null;
  #text: string;
  #whole: (() => string) | null;

  constructor(given: string, isError: boolean, { chars, hash = null, whole = null, excuses = [] }: Known) {
    let text = given;
    let begins = settledStart(text, isError);
    // What is cut has to be enough for all that is asked of a start, and for what a look ahead may see.
    if (whole !== null && (text.length < shortCharsMax || !begins.isSure)) {
      text = whole();
      begins = settledStart(text, isError);
      this.#whole = null;
    } else this.#whole = whole;
    this.start = begins.start;
    this.chars = chars ?? text.length;
    this.excuse = isError ? excuseOf(text, excuses) : null;
    this.#isError = isError;
    this.#hash = hash ?? (begins.isWhole && this.#whole === null ? begins.start : null);
    if (isError && this.#hash !== null && text.length > leadCharsMax) this.#problem = problemOf(text);
    if (this.#whole !== null) this.#text = '';
    else this.#text = this.#hash === null ? text : beginning(text);
  }

  get lead(): string {
    return (this.#whole?.() ?? this.#text).slice(0, leadCharsMax);
  }

  get problem(): string {
    this.#problem ??= problemOf(this.#whole?.() ?? this.#text);
    return this.#problem;
  }

  get hash(): string {
    if (this.#hash !== null) return this.#hash;
    const text = this.#whole?.() ?? this.#text;
    if (this.#isError) this.#problem = problemOf(text);
    const isLong = text.length > comparedCharsMax;
    const tail = isLong ? `${text.length}${text.slice(-1_000)}` : '';
    // In an error every number is volatile (a shell's line, a pid); elsewhere a number may be what is waited for.
    this.#hash = settledDigest(isLong ? text.slice(0, comparedCharsMax) : text, tail, this.#isError);
    this.#text = beginning(text);
    this.#whole = null;
    return this.#hash;
  }
}

/** Copied: a plain slice of a text keeps all of it in memory. */
function beginning(text: string): string {
  if (text.length <= leadCharsMax) return text;
  return Buffer.from(text.slice(0, leadCharsMax), 'utf16le').toString('utf16le');
}

/** Errors that are not the agent's: a person said no, or another call of the same batch failed. As results begin then. */
export interface Excuses {
  readonly rejected?: RegExp;
  readonly sibling?: RegExp;
}

/** Of clients that have no folder here. */
const commonExcuses: Excuses = {
  rejected:
    /^(User rejected|Request was (rejected|denied|aborted)|The user rejected permission|\[Operation Cancelled\] Reason: User)/,
};

function excuseOf(text: string, own: readonly Excuses[]): ResultSign['excuse'] {
  const head = text.slice(0, headCharsMax);
  const all = [...own, commonExcuses];
  if (all.some(({ sibling }) => sibling?.test(head))) return 'sibling';
  return all.some(({ rejected }) => rejected?.test(head)) ? 'rejected' : null;
}

/** The status that a client's own record of an API error begins with. Never asked of anybody else's words. */
export function statusIn(text: string): number | null {
  const found = /^\{"status": ?(\d{3})\b|^API Error: (?:[^(\d]{0,60}\()?(\d{3})\b/.exec(text);
  const status = found?.[1] ?? found?.[2];
  return status === undefined ? null : Number(status);
}
