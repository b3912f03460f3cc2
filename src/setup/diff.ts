import { structuredPatch } from 'diff';
import { shown } from '../model/text.ts';

const contextLines = 3;
const lineCharsMax = 400;
const aroundChars = 40;
/** A file that changed more than this is shown as old and new. */
const changesMax = 1_000;

/** What would change, as `diff -u` has it, safe for a terminal: secrets are taken out. Empty where nothing would. */
export function unifiedDiff(name: string, before: string | null, after: string): string {
  // Of nothing the line before it is named.
  const range = (start: number, count: number) => `${count === 0 ? start - 1 : start},${count}`;
  const out = hunksOf(before ?? '', after).flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`,
    ...shortened(linesOf(lines)).map(written),
  ]);
  // A tab ends a name that has blanks in it.
  const title = `${shown(name)}${/\s/.test(name) ? '\t' : ''}`;
  return out.length === 0 ? '' : [`--- ${before === null ? '/dev/null' : title}`, `+++ ${title}`, ...out].join('\n');
}

type Hunk = ReturnType<typeof patchOf>['hunks'][number];

const patchOf = (before: string, after: string) => structuredPatch('', '', before, after);

function hunksOf(before: string, after: string): Hunk[] {
  const options = { context: contextLines, maxEditLength: changesMax };
  const patch = structuredPatch('', '', before, after, undefined, undefined, options);
  if (patch !== undefined) return patch.hunks;
  const [old] = patchOf(before, '').hunks;
  const [fresh] = patchOf('', after).hunks;
  const lines = [...(old?.lines ?? []), ...(fresh?.lines ?? [])];
  return [{ oldStart: 1, oldLines: old?.oldLines ?? 0, newStart: 1, newLines: fresh?.newLines ?? 0, lines }];
}

interface Line {
  mark: string;
  /** With the \r of its line break. */
  text: string;
  /** The last of a file, without a line break. */
  isOpen: boolean;
}

/** That a file ends without a line break stands in a line of its own, which begins with a backslash. */
function linesOf(lines: string[]): Line[] {
  const isNote = (line: string | undefined) => line?.startsWith('\\') === true;
  return lines.flatMap((line, index) =>
    isNote(line) ? [] : [{ mark: line.slice(0, 1), text: line.slice(1), isOpen: isNote(lines[index + 1]) }],
  );
}

/** A file that is one long line: only the place where it changes, and of what is put in there how it begins. */
function shortened(lines: Line[]): Line[] {
  return lines.map((line, index) => {
    const other = line.mark === '-' ? lines[index + 1] : line.mark === '+' ? lines[index - 1] : undefined;
    const isPair = other !== undefined && other.mark !== ' ' && other.mark !== line.mark;
    if (!isPair || line.text.length + other.text.length <= lineCharsMax) return line;
    // Secrets go before it is cut: half of one would not be known again.
    const whole = (one: Line) => shown(one.text.trimEnd(), one.text.length);
    const [text, before] = [whole(line), whole(other)];
    const { length } = text;
    const shorter = Math.min(length, before.length);
    let start = 0;
    while (start < shorter && text[start] === before[start]) start += 1;
    let end = 0;
    while (end < shorter - start && text[length - 1 - end] === before[before.length - 1 - end]) end += 1;
    const from = start <= aroundChars ? 0 : start - aroundChars;
    const to = end <= aroundChars ? length : length - end + aroundChars;
    const changed = text.slice(from, to);
    const middle = changed.length <= lineCharsMax ? changed : cutOut(changed);
    const isOpen = to === length && line.isOpen;
    return { ...line, text: `${from === 0 ? '' : '…'}${middle}${to === length ? '' : '…'}`, isOpen };
  });
}

function cutOut(text: string): string {
  const left = text.length - lineCharsMax;
  return `${text.slice(0, lineCharsMax - aroundChars)} … ${left} characters … ${text.slice(-aroundChars)}`;
}

function written({ mark, text, isOpen }: Line): string {
  const end = isOpen ? '\n\\ No newline at end of file' : text.endsWith('\r') ? '\r' : '';
  const parts = (isOpen ? text : text.replace(/\r$/, '')).split('\t').map((part) => shown(part));
  return `${mark}${parts.join('\t')}${end}`;
}
