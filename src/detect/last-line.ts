import { lookInto, type UntrustedText, untrusted } from '../model/text.ts';

/**
 * Does an output end as that of a failed program does? Only its very last line counts, from its first column on: an
 * error somewhere above was perhaps handled, and "I fixed the TypeError" is none.
 */
const endings: readonly RegExp[] = [
  /^(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt)(?::\s|$)/,
  /^Error: /,
  /^(?:npm ERR!|npm error) /,
  /^error(?:\[E\d+\])?: /,
  /^fatal: /,
  /^panic: /,
  /^make(?:\[\d+\])?: \*\*\* /,
  /^Segmentation fault/,
  /^(?:bash|sh|zsh): .{1,200}: (?:command not found|No such file or directory|Permission denied)$/,
];

const lineCharsMax = 500;

/** The line, or null. */
export function failureAtEnd(tail: UntrustedText): UntrustedText | null {
  const last = lookInto(tail).trimEnd().split(/\r?\n/).at(-1)?.slice(0, lineCharsMax) ?? '';
  return endings.some((ending) => ending.test(last)) ? untrusted(last) : null;
}
