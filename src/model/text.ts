/** Text from outside: agents, their files, tmux, the network. It may be stored and shown, never typed or executed. */

import { redact } from './redact.ts';

const shownMax = 2_000;
/** What is cut is redacted with what follows: half of a secret has no longer its form. */
const marginChars = 1_000;

/**
 * Makes untrusted text safe for a terminal, a log and a database: control, bidirectional and other invisible
 * characters and lone surrogates are written out as escapes, and secrets are taken out.
 */
export function shown(text: string, charsMax = shownMax): string {
  const clean = redact(text.slice(0, charsMax + marginChars));
  const isCut = clean.length > charsMax || text.length > charsMax + marginChars;
  return printable(isCut ? `${clean.slice(0, charsMax)}…` : clean);
}

/** The same without cutting or redacting, for what the user wrote and has to find again. */
export function printable(text: string): string {
  return text.toWellFormed().replace(unsafe, escaped);
}

/** For the store: whole and with its lines, but without secrets and what a database cannot hold. */
export function storable(text: string): string {
  return redact(text.toWellFormed().replaceAll('\u0000', '\ufffd'));
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
