import { shown } from '../model/text.ts';

const contextLines = 3;
const lineCharsMax = 400;
const aroundChars = 40;
/** A file that changed more than this is shown as old and new. */
const changesMax = 1_000;

/** What would change, as `diff -u` has it, safe for a terminal: secrets are taken out. Empty where nothing would. */
export function unifiedDiff(name: string, before: string | null, after: string): string {
  const steps = compare(before === null ? [] : lines(before), lines(after));
  const out = hunks(steps).flatMap(({ at, from, length }) => {
    const hunk = steps.slice(at, at + length);
    const range = (start: number, mark: Step['mark']) => {
      const count = hunk.filter((step) => step.mark !== mark).length;
      // Of nothing the line before it is named.
      return `${count === 0 ? start - 1 : start},${count}`;
    };
    return [`@@ -${range(from.old, '+')} +${range(from.fresh, '-')} @@`, ...shortened(hunk).map(lineOf)];
  });
  // A tab ends a name that has blanks in it.
  const title = `${shown(name)}${/\s/.test(name) ? '\t' : ''}`;
  return out.length === 0 ? '' : [`--- ${before === null ? '/dev/null' : title}`, `+++ ${title}`, ...out].join('\n');
}

interface Hunk {
  /** Where in the steps, and how many of them. */
  at: number;
  length: number;
  /** Its first line in either text. */
  from: { old: number; fresh: number };
}

/** Changes with the lines around them; those that touch are one. */
function hunks(steps: Step[]): Hunk[] {
  const found: Hunk[] = [];
  const isNear = (index: number) =>
    steps.slice(Math.max(0, index - contextLines), index + contextLines + 1).some(({ mark }) => mark !== ' ');
  let [old, fresh] = [1, 1];
  let open: Hunk | null = null;
  steps.forEach(({ mark }, index) => {
    if (!isNear(index)) open = null;
    else if (open !== null) open.length += 1;
    else {
      open = { at: index, length: 1, from: { old, fresh } };
      found.push(open);
    }
    if (mark !== '+') old += 1;
    if (mark !== '-') fresh += 1;
  });
  return found;
}

/** A file that is one long line: only the place where it changes, and of what is put in there how it begins. */
function shortened(hunk: Step[]): Step[] {
  return hunk.map((step, index) => {
    const other = step.mark === '-' ? hunk[index + 1] : step.mark === '+' ? hunk[index - 1] : undefined;
    const isPair = other !== undefined && other.mark !== ' ' && other.mark !== step.mark;
    if (!isPair || step.text.length + other.text.length <= lineCharsMax) return step;
    // Secrets go before it is cut: half of one would not be known again.
    const [text, before] = [step, other].map((one) => shown(one.text.trimEnd(), one.text.length)) as [string, string];
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
    const lineEnd = to < length || step.text.endsWith('\n') ? '\n' : '';
    return { ...step, text: `${from === 0 ? '' : '…'}${middle}${to === length ? '' : '…'}${lineEnd}` };
  });
}

function cutOut(text: string): string {
  const left = text.length - lineCharsMax;
  return `${text.slice(0, lineCharsMax - aroundChars)} … ${left} characters … ${text.slice(-aroundChars)}`;
}

function lineOf({ mark, text }: Step): string {
  const bare = text.replace(/\r?\n$/, '');
  const end = text.endsWith('\r\n') ? '\r' : text.endsWith('\n') ? '' : '\n\\ No newline at end of file';
  const parts = bare.split('\t').map((part) => shown(part));
  return `${mark}${parts.join('\t')}${end}`;
}

interface Step {
  mark: ' ' | '-' | '+';
  text: string;
}

/** The shortest way from one to the other (E. W. Myers, 1986). */
function compare(old: string[], fresh: string[]): Step[] {
  const furthest = new Map<number, number>([[1, 0]]);
  const trace: Map<number, number>[] = [];
  for (let changes = 0; changes <= Math.min(changesMax, old.length + fresh.length); changes += 1) {
    trace.push(new Map(furthest));
    for (let k = -changes; k <= changes; k += 2) {
      const down = k === -changes || (k !== changes && reach(furthest, k - 1) < reach(furthest, k + 1));
      let x = down ? reach(furthest, k + 1) : reach(furthest, k - 1) + 1;
      while (x < old.length && x - k < fresh.length && old[x] === fresh[x - k]) x += 1;
      furthest.set(k, x);
      if (x >= old.length && x - k >= fresh.length) return walkBack(trace, old, fresh);
    }
  }
  return [...old.map((text) => ({ mark: '-' as const, text })), ...fresh.map((text) => ({ mark: '+' as const, text }))];
}

function walkBack(trace: Map<number, number>[], old: string[], fresh: string[]): Step[] {
  const steps: Step[] = [];
  let x = old.length;
  let y = fresh.length;
  for (let changes = trace.length - 1; changes >= 0; changes -= 1) {
    const furthest = trace[changes] ?? new Map<number, number>();
    const k = x - y;
    const down = k === -changes || (k !== changes && reach(furthest, k - 1) < reach(furthest, k + 1));
    const fromK = down ? k + 1 : k - 1;
    const fromX = changes === 0 ? 0 : reach(furthest, fromK);
    const fromY = changes === 0 ? 0 : fromX - fromK;
    while (x > fromX && y > fromY) {
      x -= 1;
      y -= 1;
      steps.push({ mark: ' ', text: old[x] ?? '' });
    }
    if (changes > 0) steps.push(down ? { mark: '+', text: fresh[fromY] ?? '' } : { mark: '-', text: old[fromX] ?? '' });
    x = fromX;
    y = fromY;
  }
  return steps.reverse();
}

function reach(furthest: Map<number, number>, k: number): number {
  return furthest.get(k) ?? -1;
}

/** Each with its end; the last may have none. */
function lines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
