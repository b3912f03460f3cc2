import { digest } from '../model/digest.ts';
import type { CallSign, ResultSign } from '../model/session-event.ts';
import { actOf, isQuick } from './acts.ts';

const targetCharsMax = 300;
const leadCharsMax = 300;
/** Enough to tell outputs apart; a huge one costs no more than this. */
const comparedCharsMax = 16_000;

/** How a call is known again: by its tool and arguments, whatever the blanks. `text` is the command or the path. */
export function callSign(tool: string, text: string, args: string): CallSign {
  const act = actOf(tool, text);
  const target = text.slice(0, targetCharsMax);
  return { hash: digest(`${tool}\n${squeezed(args)}`), target, act, quick: isQuick(act, tool, text), edit: null };
}

/** How a result is known again: without what changes by itself from one run of the same command to the next. */
export function resultSign(text: string, isError: boolean): ResultSign {
  const head = text.slice(0, comparedCharsMax);
  const tail = text.length > comparedCharsMax ? `${text.length}${text.slice(-1_000)}` : '';
  return {
    hash: digest(settled(head, isError) + tail),
    lead: text.slice(0, leadCharsMax),
    chars: text.length,
    excuse: isError ? excuseOf(text) : null,
  };
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

/** In an error every number is volatile (a shell's line, a pid); elsewhere a number may be what is waited for. */
function settled(text: string, isError: boolean): string {
  const calm = squeezed(text)
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?/g, '<time>')
    .replace(/\b\d\d:\d\d:\d\d(\.\d+)?\b/g, '<time>')
    .replace(/\b\d+(\.\d+)? ?(ms|µs|ns|s|sec|seconds)\b/g, '<took>')
    .replace(/\/tmp\/[\w.+/-]+/g, '<temp>')
    .replace(/\b(pid|process|chunk|id)[ :=#]+\w{1,40}/gi, '<id>')
    .replace(/\b0x[\da-f]+\b/gi, '<address>');
  return isError ? calm.replace(/\d+/g, '#') : calm;
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** The status that a client's own record of an API error begins with. Never asked of anybody else's words. */
export function statusIn(text: string): number | null {
  const found = /^\{"status": ?(\d{3})\b|^API Error: (?:[^(\d]{0,60}\()?(\d{3})\b/.exec(text);
  const status = found?.[1] ?? found?.[2];
  return status === undefined ? null : Number(status);
}
