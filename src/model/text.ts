/** Text from outside: agents, their files, tmux, the network. It may be stored and shown, never typed or executed. */

import { redact } from './redact.ts';

declare const isUntrusted: unique symbol;
declare const isShown: unique symbol;
declare const isTypable: unique symbol;

/**
 * What an agent said, or stands in its files or on its screen, as it was read. It is a string, but to the compiler it is
 * nothing that can be put into another text, compared, typed, told or written: only the functions of this file open it.
 */
export type UntrustedText = symbol & { readonly [isUntrusted]: true };

/** Made safe by `shown`. */
export type ShownText = string & { readonly [isShown]: true };

/** May be typed into an agent: only `decide/prompt-text.ts` says so. */
export type TypableText = string & { readonly [isTypable]: true };

/** For readers: where text comes in. */
export function untrusted(text: string): UntrustedText;
export function untrusted(text: string | null): UntrustedText | null;
export function untrusted(text: string | null): UntrustedText | null {
  return text as unknown as UntrustedText | null;
}

/** To look at it only. What is handed on is marked again, or is a word of ours. */
export function lookInto(text: UntrustedText): string {
  return text as unknown as string;
}

export function isEmpty(text: UntrustedText): boolean {
  return lookInto(text) === '';
}

const shownMax = 2_000;
/** What is cut is redacted with what follows: half of a secret has no longer its form. */
const marginChars = 1_000;

/**
 * Makes untrusted text safe for a terminal, a log and a database: control, bidirectional and other invisible
 * characters and lone surrogates are written out as escapes, and secrets are taken out.
 */
export function shown(given: string | UntrustedText, charsMax = shownMax): ShownText {
  const text = given as string;
  const clean = text.length <= sameCharsMax ? redactedOnce(text) : redact(text.slice(0, charsMax + marginChars));
  const isCut = clean.length > charsMax || text.length > charsMax + marginChars;
  return printable(isCut ? `${clean.slice(0, charsMax)}…` : clean) as ShownText;
}

/** Names, paths and versions are the same at every look at hundreds of agents; what is made of a text never changes. */
const redactedTexts = new Map<string, string>();
const redactedMax = 5_000;
const sameCharsMax = 200;

function redactedOnce(text: string): string {
  const known = redactedTexts.get(text);
  if (known !== undefined) return known;
  if (redactedTexts.size >= redactedMax) redactedTexts.clear();
  const clean = redact(text);
  redactedTexts.set(text, clean);
  return clean;
}

/** The same without cutting or redacting, for what the user wrote and has to find again. */
export function printable(text: string): string {
  return text.toWellFormed().replace(unsafe, escaped);
}

/** For the store: whole and with its lines, but without secrets and what a database cannot hold. */
export function storable(text: string | UntrustedText): string {
  return redact((text as string).toWellFormed().replaceAll('\u0000', '\ufffd'));
}

/** C0, DEL, C1, soft hyphen, bidi marks and overrides, line and paragraph separators, zero-width, BOM, tags, U+FFFD. */
const unsafe =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (character === '\n') return '\\n';
  if (character === '\t') return '\\t';
  if (character === '\r') return '\\r';
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}
