import { isErrorKind } from './error-kind.ts';
import type { ShownText } from './text.ts';

/**
 * What comes from agents, their files and tables, in words of ours. In what is typed it is one short plain word in quotes
 * that no shell and no client knows, or it is left out: it cannot be a sentence, attach a file or change a mode.
 */

const wordCharsMax = 40;
/** ASCII only: other scripts have letters that look like these, blanks that are none, and forms of `@`. */
const plainWord = /^[A-Za-z0-9](?:[A-Za-z0-9._:+-]{0,38}[A-Za-z0-9])?$/;

export function isPlainWord(text: string): boolean {
  return text.length <= wordCharsMax && plainWord.test(text) && !changesWork(text);
}

/** Clients think harder or start many agents for a prompt with one of these in it, also in quotes or within a path. */
export function changesWork(text: string): boolean {
  return /ultra(?:think|code|plan|review)/i.test(text);
}

export function quoted(word: string): string {
  return `“${word}”`;
}

/** `server_error, HTTP 529`: of a text from outside only its kind and its status. */
export function errorWords(kind: string | null, text: string): string {
  const status = /\b(?:API Error: |HTTP |status )(?:\()?([45]\d\d)\b/i.exec(text.slice(0, 2_000))?.[1];
  const known = kind !== null && isErrorKind(kind) ? kind : null;
  return (
    [known, status === undefined ? null : `HTTP ${status}`].filter((part) => part !== null).join(', ') || 'an error'
  );
}

const saidErrors =
  /^(?:an error|as its client says|as was reported|exit code \d{1,5}|(?:an API error, )?HTTP \d{3}|([a-z_]{1,40})(?:, HTTP \d{3})?)$/;

/** Is it one of our own ways to say what went wrong? */
export function isSaidError(text: string): boolean {
  const match = saidErrors.exec(text);
  return match !== null && (match[1] === undefined || isErrorKind(match[1]));
}

/** In a message to people: on one line, whatever blanks there are, and no address in it is one that can be followed. */
export function told(text: ShownText): ShownText {
  return text
    .replace(/[\s\u2800\u3164\u115f\u1160\uffa0]+/g, ' ')
    .replaceAll('://', '[:]//')
    .replace(/\b(mailto|tel|javascript):(?=\S)/gi, '$1[:]')
    .replace(/\bwww\.(?=\S)/gi, 'www[.]') as ShownText;
}

/** Where every `name.word` becomes a link, even of a file: it looks the same and is two words. */
export function withoutDomains(text: string): string {
  return text.replace(/(?<=[\p{L}\p{N}-])\.(?=\p{L}{2})/gu, '.\u200b');
}
