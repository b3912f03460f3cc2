/**
 * How long something has given no sign. Counted on the clock that never jumps, so that a suspended laptop or a corrected
 * clock ages nothing; a file's own time tells what happened while nobody looked.
 */
export interface Quiet {
  /** What was seen of it; null: nothing could be. */
  stamp: string | null;
  quietMs: number;
  seenMonotonicMs: number;
}

export interface Glance {
  stamp: string | null;
  /** When it last changed by its own word; null: it has none. */
  changedMs: number | null;
  nowMs: number;
  monotonicMs: number;
}

/** `firstMs`: how long it may have been quiet at the first look, where it has no word of its own. */
export function tellQuiet(before: Quiet | null, glance: Glance, firstMs = 0): Quiet {
  const { stamp, changedMs, nowMs, monotonicMs } = glance;
  const byItself = changedMs === null ? null : Math.max(0, nowMs - changedMs);
  if (before === null) return { stamp, quietMs: byItself ?? firstMs, seenMonotonicMs: monotonicMs };
  const passedMs = Math.max(0, monotonicMs - before.seenMonotonicMs);
  if (stamp === before.stamp || stamp === null) {
    // Gone from sight is no sign of life; back as it was neither.
    return { stamp: before.stamp, quietMs: before.quietMs + passedMs, seenMonotonicMs: monotonicMs };
  }
  // It changed since the last look, so it cannot have been quiet for longer, whatever the clocks say.
  return { stamp, quietMs: Math.min(byItself ?? 0, passedMs), seenMonotonicMs: monotonicMs };
}
