import { shown } from '../../model/text.ts';

const contextLines = 3;
/** A file that changed more than this is shown as old and new. */
const changesMax = 1_000;

/** What would change, as `diff -u` has it, safe for a terminal. Empty where nothing would. */
export function unifiedDiff(name: string, before: string | null, after: string): string {
  const old = before === null ? [] : lines(before);
  const fresh = lines(after);
  const steps = compare(old, fresh);
  const shownAt = new Set<number>();
  steps.forEach(({ mark }, index) => {
    if (mark === ' ') return;
    for (let near = index - contextLines; near <= index + contextLines; near += 1) shownAt.add(near);
  });
  const out: string[] = [];
  let oldLine = 1;
  let freshLine = 1;
  steps.forEach(({ mark, text }, index) => {
    if (shownAt.has(index)) {
      if (!shownAt.has(index - 1) || index === 0) out.push(`@@ -${oldLine} +${freshLine} @@`);
      out.push(
        mark +
          text
            .split('\t')
            .map((part) => shown(part))
            .join('\t'),
      );
    }
    if (mark !== '+') oldLine += 1;
    if (mark !== '-') freshLine += 1;
  });
  return out.length === 0 ? '' : [`--- ${before === null ? '/dev/null' : name}`, `+++ ${name}`, ...out].join('\n');
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

function lines(text: string): string[] {
  const all = text.replaceAll('\r\n', '\n').split('\n');
  return all.at(-1) === '' ? all.slice(0, -1) : all;
}
