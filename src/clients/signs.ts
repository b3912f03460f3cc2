import type { CallSign, ResultSign } from '../model/session-event.ts';
import { actOf, isQuick } from './acts.ts';
import { problemOf } from './problem.ts';
import { settledDigest, settledStart, squeezedDigest } from './settled.ts';

const targetCharsMax = 300;
const leadCharsMax = 300;
/** Enough to tell outputs apart; a huge one costs no more than this. */
const comparedCharsMax = 16_000;

/** How a call is known again: by its tool and arguments, whatever the blanks. `text` is the command or the path. */
export function callSign(tool: string, text: string, args: string): CallSign {
  const act = actOf(tool, text);
  const target = text.slice(0, targetCharsMax);
  return { hash: squeezedDigest(`${tool}\n`, args), target, act, quick: isQuick(act, tool, text), edit: null };
}

/**
 * How a result is known again: without what changes by itself from one run of the same command to the next. `known`: of
 * an output that is not whole, what its record says of the whole.
 */
export function resultSign(
  text: string,
  isError: boolean,
  known: { chars: number; hash: string | null } | null = null,
): ResultSign {
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

  constructor(text: string, isError: boolean, known: { chars: number; hash: string | null } | null) {
    const { start, isWhole } = settledStart(text, isError);
    this.start = start;
    this.chars = known?.chars ?? text.length;
    this.excuse = isError ? excuseOf(text) : null;
    this.#isError = isError;
    this.#hash = known?.hash ?? (isWhole ? start : null);
    this.#text = this.#hash === null ? text : beginning(text);
  }

  get lead(): string {
    return this.#text.slice(0, leadCharsMax);
  }

  get problem(): string {
    this.#problem ??= problemOf(this.#text);
    return this.#problem;
  }

  get hash(): string {
    if (this.#hash !== null) return this.#hash;
    const text = this.#text;
    if (this.#isError) this.#problem = problemOf(text);
    const isLong = text.length > comparedCharsMax;
    const tail = isLong ? `${text.length}${text.slice(-1_000)}` : '';
    // In an error every number is volatile (a shell's line, a pid); elsewhere a number may be what is waited for.
    this.#hash = settledDigest(isLong ? text.slice(0, comparedCharsMax) : text, tail, this.#isError);
    this.#text = beginning(text);
    return this.#hash;
  }
}

/** Copied: a plain slice of a text keeps all of it in memory. */
function beginning(text: string): string {
  if (text.length <= leadCharsMax) return text;
  return Buffer.from(text.slice(0, leadCharsMax), 'utf16le').toString('utf16le');
}

/** Errors that are not the agent's: a person said no, or another call of the same batch failed. */
function excuseOf(text: string): ResultSign['excuse'] {
  const head = text.slice(0, 400);
  if (/^(<tool_use_error>)?Sibling tool call errored/.test(head)) return 'sibling';
  return /^(The user doesn't want to (proceed|take this action)|\[Request interrupted by user|Permission to use \S+ (with|has been)|User rejected|Request was (rejected|denied|aborted)|The user rejected permission|\[Operation Cancelled\] Reason: User|(exec command |patch )?rejected by user|aborted by user)/.test(
    head,
  )
    ? 'rejected'
    : null;
}

/** The status that a client's own record of an API error begins with. Never asked of anybody else's words. */
export function statusIn(text: string): number | null {
  const found = /^\{"status": ?(\d{3})\b|^API Error: (?:[^(\d]{0,60}\()?(\d{3})\b/.exec(text);
  const status = found?.[1] ?? found?.[2];
  return status === undefined ? null : Number(status);
}
