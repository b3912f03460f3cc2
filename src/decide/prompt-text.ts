import type { TypableText } from '../model/text.ts';

/** What may be typed into an agent's box, and how it is marked so that its arrival can be proved. */

const charsMax = 100_000;
/** Control characters but the line feed; bidirectional, invisible and line-separator characters; lone surrogates. */
const unsafe =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff]|[\u{e0000}-\u{e007f}]/u;

/** tmux 3.3 draws them wider than the client counts; the row breaks, and the client's box can no longer be read. */
const skinTone = /[\u{1f3fb}-\u{1f3ff}]/u;

/** Refused, not repaired: a text that was changed is not what somebody wanted to say. null: may be typed. */
export function whyUnsafe(text: string, oneLineOnly: boolean): string | null {
  if (text.trim() === '') return 'the text is empty';
  if (text.length > charsMax) return `the text is longer than ${charsMax} characters`;
  if (/^\s*!/.test(text)) return 'a leading `!` would run it as a shell command';
  if (/^\s*\//.test(text)) return 'a leading `/` would make it a command of the client';
  if (/\\\s*$/.test(text)) return 'a trailing `\\` would keep it from being submitted';
  if (/^\s/.test(text)) return 'leading blanks are lost where the client queues it';
  if (text !== text.normalize('NFC')) return 'the client would change it into Unicode normal form C';
  if (unsafe.test(text)) return 'it holds control or invisible characters';
  if (skinTone.test(text)) return 'skin tones of emoji garble the screen of the client under tmux';
  // A shell beneath could execute the second line if the client died in between.
  if (oneLineOnly && text.includes('\n')) return 'the agent runs under a shell, where only one line is safe';
  return null;
}

/** A prompt with its tag; null: it is not safe. */
export function typablePrompt(text: string, tag: string, oneLineOnly: boolean): TypableText | null {
  return whyUnsafe(text, oneLineOnly) === null ? (`${text} [${tag}]` as TypableText) : null;
}

/** A command of the client's, or one of a recipe; null: it is more than one line of plain characters. */
export function typableCommand(text: string): TypableText | null {
  return text !== '' && whyUnsafe(`x ${text}`, true) === null ? (text as TypableText) : null;
}
