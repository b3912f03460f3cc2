import { settledDigest } from './settled.ts';

/** Enough of a failure to know it again; its end often says how many there are. */
const partChars = 4_000;
const colours = /\u001b\[[\d;]*[A-Za-z]/g;
/** Places move with every edit: `a.rs:40:9`, `a.ts(12,5)`, `line 12`, a margin of line numbers. */
const places = /(?<=\.\w{1,8}|:\d{1,6}):\d+|\(\d+[,:]\d+\)|\bline \d+|^[ \t]*\d+(?=[ \t]*[|→])/gim;
/** Ids, hashes, sizes, durations by their names: new each time. */
const ids =
  /\b(?=[a-f]*\d)[\da-f]{8,}(?:-[\da-f]{4,})*\b|\b\d+(?:\.\d+)?\s?[kMG]i?B\b|(?:duration|time|seconds|_ms)\w{0,20}"?\s?[:=]\s?[\d.]+/gi;

/**
 * A failure, as it is known again after a change: other than in its hash, numbers count — three tests that fail are
 * fewer than five, and `test_1` is not `test_2` — and only places, times and ids do not.
 */
export function problemOf(text: string): string {
  const part = text.length <= 2 * partChars ? text : `${text.slice(0, partChars)}\n${text.slice(-partChars)}`;
  return settledDigest(part.replace(colours, '').replace(places, ':').replace(ids, '#'), '', false);
}
