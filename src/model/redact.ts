import { commandSecrets } from './secret-commands.ts';
import { namedValues } from './secret-names.ts';
import { knownShapes } from './secret-shapes.ts';

/**
 * Takes secrets out of text from outside. Everything in here takes time in proportion to the text, whatever it holds:
 * what a pattern has looked at in vain is bounded, or is not looked at again.
 */

/** From, and up to but not including. */
export type Span = readonly [from: number, to: number];

export const redacted = '[redacted]';

export function redact(text: string): string {
  const read = asRead(text);
  const spans = [...knownShapes(read.text), ...namedValues(read.text), ...commandSecrets(read.text)];
  if (spans.length === 0) return text;
  spans.sort((a, b) => a[0] - b[0]);
  let result = '';
  let done = 0;
  for (const [from, to] of spans) {
    const [start, end] = [Math.max(read.at(from), done), read.at(to)];
    if (end <= start) continue;
    // What touches the one before belongs to it.
    result += start === done && done > 0 ? '' : `${text.slice(done, start)}${redacted}`;
    done = end;
  }
  return result + text.slice(done);
}

interface Reading {
  text: string;
  /** Where in the text as it is a place of the text as read lies. */
  at(index: number): number;
}

/** Colours and invisible characters within a word, and letters written as escapes, hide nothing. */
const hiding =
  /(?:\u001b|\\{1,4}(?:x1b|u001b|033|e))\[[0-9;?]{0,20}[A-Za-z]|[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|\\{1,4}u00([2-7][0-9a-f])|%(3[ad])/giu;

function asRead(text: string): Reading {
  const pieces: { from: number; original: number }[] = [];
  let read = '';
  let done = 0;
  for (const match of text.matchAll(hiding)) {
    const code = match[1] ?? match[2];
    const character = code === undefined ? '' : String.fromCharCode(Number.parseInt(code, 16));
    // A quote or a backslash that is written as an escape is part of a value.
    if (/["'`\\ ]/.test(character)) continue;
    read += text.slice(done, match.index) + character;
    done = match.index + match[0].length;
    pieces.push({ from: read.length, original: done });
  }
  if (pieces.length === 0) return { text, at: (index) => index };
  return { text: read + text.slice(done), at: (index) => originalPlace(pieces, index) };
}

/** An escape that was read as one letter is taken out whole, so a place within it counts as its end. */
function originalPlace(pieces: readonly { from: number; original: number }[], index: number): number {
  let [low, high] = [0, pieces.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pieces[middle]?.from ?? 0) <= index) low = middle + 1;
    else high = middle;
  }
  const before = pieces[low - 1];
  return before === undefined ? index : before.original + index - before.from;
}
