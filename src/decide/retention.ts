import type { ClockMark } from '../model/aging.ts';

// How far back rows are kept. The wall clock alone is no witness: one that is 40 days ahead for an hour would make
// everything too old. So every few hours a mark says how much time has passed, on the clock that nobody can set, and what the
// wall clock said then. What is older than every mark of the retention is older than it by time that was lived through.

type Boot = Pick<ClockMark, 'bootId' | 'bootMs'>;

const hourMs = 3_600_000;
const markEveryMs = 6 * hourMs;
const jumpMs = 60_000;

/** A machine that was off has told nobody for how long: only what is up since then counts. */
export function passedSince(last: ClockMark, boot: Boot): number {
  const isSameBoot = last.bootId === boot.bootId && boot.bootMs >= last.bootMs;
  return last.passedMs + (isSameBoot ? boot.bootMs - last.bootMs : boot.bootMs);
}

/** Is it worth a mark? Also whenever the wall clock was set. */
export function isMarkDue(last: ClockMark, now: ClockMark): boolean {
  const passedMs = now.passedMs - last.passedMs;
  return passedMs >= markEveryMs || Math.abs(now.atMs - last.atMs - passedMs) > jumpMs;
}

/** By how much the clock was set ahead since the mark; 0: it was not, or the machine was started anew and nobody knows. */
export function aheadSince(last: ClockMark, now: ClockMark): number {
  const byMs = now.atMs - last.atMs - (now.passedMs - last.passedMs);
  return last.bootId === now.bootId && byMs > jumpMs ? byMs : 0;
}

/** What is older than this may go. `marks`: at least one, the oldest first. */
export function keepFrom(marks: readonly ClockMark[], now: ClockMark, retentionMs: number): number {
  const fromMs = now.passedMs - retentionMs;
  // Until the next mark, rows were written by the clock of the one before.
  const first = marks.findLastIndex(({ passedMs }) => passedMs <= fromMs);
  const counting = marks.slice(Math.max(0, first)).map(({ atMs }) => atMs);
  const [oldest] = marks;
  // What was before the first mark is only known by its own time, and that of the mark.
  if (first === -1 && oldest !== undefined) counting.push(oldest.atMs + fromMs - oldest.passedMs);
  return Math.min(now.atMs - retentionMs, ...counting);
}
