import type { PaneFacts } from '../model/delivery.ts';

/** How far the wall clock can be believed. */
export interface ClockTrust {
  /** So long it has not been set while this run was there; infinite: never. */
  steadyForMs: number;
  /** So long this run has been there. */
  knownForMs: number;
}

const wholeSecondMs = 1_000;

/**
 * When each person was last active. Who was before the clock was set may have been a moment before; and a time that has yet to
 * come is from before it was set, be it in an earlier run.
 */
export function peopleBySteadyClock(
  people: PaneFacts['people'],
  { steadyForMs, knownForMs }: ClockTrust,
  nowMs: number,
): PaneFacts['people'] {
  return people.map((person) => {
    const { activeAtMs } = person;
    // tmux counts in whole seconds, so the present one may end a moment from now.
    if (activeAtMs > nowMs + wholeSecondMs) return { ...person, activeAtMs: nowMs - Math.min(steadyForMs, knownForMs) };
    return activeAtMs < nowMs - steadyForMs ? { ...person, activeAtMs: nowMs - steadyForMs } : person;
  });
}
