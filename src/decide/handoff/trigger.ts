import { percentOf, wholePercent } from '../../model/percent.ts';
import { type ContextFigure, stepsOf } from '../forecast.ts';

/**
 * When to hand over: at a share of the window, or earlier, when the next step may leave too little room to write the
 * handoff in. docs/reports/handoff-trigger.md says how these numbers were chosen.
 */
export const reckoned = {
  /** The request 500, the document 10,000, and 5,500 when it is sent back and what was missing is added. */
  writing: 16_000,
  /** The next step may be as large as the largest of the last, but a file may always be read. */
  stepMin: 8_000,
  /** The largest of 5,000 real steps. A figure that grows by more than that has jumped. */
  stepMax: 32_000,
};
/** Fewer say nothing about the next one. */
const stepsSeenMin = 3;
/** What is kept and looked at of a session. */
export const figuresMax = 100;

/** Handoffs end before this (seed 000). */
const lastPercent = 90;
/** In a context that is half empty no step calls for a handoff. */
const firstPercent = 50;

export interface HandoffPolicy {
  atPercent: number;
  /** Hand over before the client compacts by itself, or leave it to that. */
  compaction: 'forestall' | 'leave';
}

/** A point of the context's history, as it is on record. */
export interface HandoffFigure extends ContextFigure {
  /** Where the client stood when it compacted. */
  usedBefore: number | null;
}

export interface HandoffWorld {
  /** Where the client compacts by itself on this model, in tokens; null: it does not. */
  compactsAt: number | null;
  /** A step is under way that no figure tells of yet. */
  isWorking: boolean;
}

export interface HandoffDue {
  now: boolean;
  /** The mark that counts, or why none does. */
  reason: 'at-percent' | 'usable-end' | 'compaction' | 'room-left' | 'left-to-compaction' | 'context-unknown';
  /** Of the window; null: unknown. */
  percent: number | null;
  /** Tokens up to the mark by which a handoff has to be written. */
  room: number | null;
  /** Tokens that the next steps and the handoff may take. */
  needed: number | null;
}

/** `figures`: of the present session, the oldest first. */
export function shouldHandOff(
  figures: readonly HandoffFigure[],
  { atPercent, compaction }: HandoffPolicy,
  { compactsAt, isWorking }: HandoffWorld,
): HandoffDue {
  const last = figures.at(-1);
  if (last === undefined || !(last.window > 0) || !Number.isFinite(last.used))
    return { now: false, reason: 'context-unknown', percent: null, room: null, needed: null };
  const percent = percentOf(last.used, last.window);
  const needed = reckoned.writing + largestStep(figures) * (isWorking ? 2 : 1);
  const end = Math.min(last.usable, (lastPercent / 100) * last.window);
  const compacts = compactionMark(figures, compactsAt);
  const isLeft = compaction === 'leave' && compacts !== null;
  const mark = compacts === null || isLeft ? end : Math.min(end, compacts);
  const room = Math.max(0, Math.floor(mark - last.used));
  const due = { percent, room, needed };
  if (percent >= atPercent) return { now: true, reason: 'at-percent', ...due };
  if (isLeft) return { now: false, reason: 'left-to-compaction', ...due };
  if (room >= needed || percent < firstPercent) return { now: false, reason: 'room-left', ...due };
  return { now: true, reason: mark === end ? 'usable-end' : 'compaction', ...due };
}

/** Completes "please write a handoff now (…)". */
export function whyHandOff({ reason, percent }: HandoffDue): string {
  if (percent === null) return 'somebody asked for it';
  const full = `your context window is ${wholePercent(percent)}% full`;
  if (reason === 'compaction') return `${full} and would soon be compacted`;
  return reason === 'usable-end' ? `${full} and the next steps may need the rest` : full;
}

function largestStep(figures: readonly ContextFigure[]): number {
  const steps = stepsOf(figures.slice(-figuresMax));
  const seen = steps.length < stepsSeenMin ? reckoned.stepMin : Math.max(...steps);
  return Math.min(Math.max(seen, reckoned.stepMin), reckoned.stepMax);
}

/** Where it was seen to compact by itself in this session, if that was earlier than this model is known for. */
function compactionMark(figures: readonly HandoffFigure[], known: number | null): number | null {
  const seen = figures.flatMap(({ compacted, usedBefore, window }) =>
    compacted === 'auto' && usedBefore !== null && usedBefore > (firstPercent / 100) * window ? [usedBefore] : [],
  );
  const marks = known === null ? seen : [...seen, known];
  return marks.length === 0 ? null : Math.min(...marks);
}
