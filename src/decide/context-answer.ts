import { percentOf } from '../model/percent.ts';

/** What an agent says about its own context window, where nothing but asking tells. */
export interface ContextAnswer {
  used: number;
  window: number;
  /** used ÷ window, as everywhere; the percent of the answer only has to agree with it. */
  percent: number;
}

const textCharsMax = 200_000;
const windowMin = 1_000;
const windowMax = 10_000_000;
/** Seen: a client counts a little past its window before it compacts. */
const overshootMax = 1.05;
const percentDifferenceMax = 2;

const space = '[ \\t\\u00a0\\u2009\\u202f]';
/** Digits, or groups of three with one and the same separator between them. */
const tokens = (name: string) =>
  `(?<${name}>\\d{1,3}(?:(?<${name}By>[,.'’_ \\u00a0\\u2009\\u202f])\\d{3}(?:\\k<${name}By>\\d{3})*)|\\d{1,12})`;
const markup = '[*_`]{0,3}';
const answer = new RegExp(
  [
    '(?<![\\p{L}\\p{N}_-])context(?: {1,2}[a-z]{1,12}){0,3}',
    `${markup}${space}{0,3}[:=]?${markup}${space}{0,3}[~≈]?${space}{0,2}${markup}`,
    `(?<percent>\\d{1,3}(?:[.,]\\d{1,6})?)${space}{0,3}%${markup}${space}{0,3}`,
    `\\(${space}{0,3}${tokens('used')}${space}{0,3}/${space}{0,3}${tokens('window')}${space}{0,3}(?:tokens?)?${space}{0,3}\\)`,
  ].join(''),
  'giu',
);

/**
 * Reads `Context: 31.6% (63,153/200,000 tokens)` from anywhere in an answer. Of several, the last that makes sense in
 * itself counts: an answer quotes what it was told and what it said before, and comes to its result at the end.
 */
export function parseContextAnswer(text: string): ContextAnswer | null {
  let last: ContextAnswer | null = null;
  for (const { groups } of text.slice(-textCharsMax).matchAll(answer)) {
    last = sensible(number(groups?.used), number(groups?.window), Number(groups?.percent?.replace(',', '.'))) ?? last;
  }
  return last;
}

function sensible(used: number, window: number, stated: number): ContextAnswer | null {
  if (!(window >= windowMin && window <= windowMax)) return null;
  if (!(used >= 0 && used <= window * overshootMax)) return null;
  const percent = percentOf(used, window);
  return Math.abs(percent - stated) <= percentDifferenceMax ? { used, window, percent } : null;
}

function number(digits: string | undefined): number {
  return digits === undefined ? Number.NaN : Number(digits.replaceAll(/\D/g, ''));
}
