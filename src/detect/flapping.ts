/**
 * A trouble that comes and goes by itself is no news the fourth time: the check, not the agent, is what cannot be relied on
 * there. It is set apart until it has been still for a while.
 */
export const flapLimits = { timesMax: 3, withinMs: 60 * 60_000, quietMs: 30 * 60_000 };

export interface Flaps {
  /** When it ended by itself, within the time that counts. */
  endsMs: readonly number[];
  /** Since when it is set apart; null: it is not. */
  apartSinceMs: number | null;
  /** When it last came or went. */
  movedMs: number;
}

export const noFlaps: Flaps = { endsMs: [], apartSinceMs: null, movedMs: Number.NEGATIVE_INFINITY };

export function endedByItself({ endsMs, apartSinceMs }: Flaps, atMs: number): Flaps {
  const ends = [...endsMs, atMs].filter((endMs) => atMs - endMs <= flapLimits.withinMs);
  return {
    endsMs: ends.slice(-flapLimits.timesMax - 1),
    apartSinceMs: apartSinceMs ?? (ends.length > flapLimits.timesMax ? atMs : null),
    movedMs: atMs,
  };
}

/** It came or went once more; of what is set apart only this is of interest. */
export function moved(flaps: Flaps, atMs: number): Flaps {
  return { ...flaps, movedMs: atMs };
}

/** Still for long enough: it is taken seriously again. */
export function settleFlaps(flaps: Flaps, nowMs: number): Flaps {
  return flaps.apartSinceMs !== null && nowMs - flaps.movedMs >= flapLimits.quietMs ? noFlaps : flaps;
}

/** The clock that these times are by was set. */
export function setBy({ endsMs, apartSinceMs, movedMs }: Flaps, byMs: number): Flaps {
  return {
    endsMs: endsMs.map((endMs) => endMs + byMs),
    apartSinceMs: apartSinceMs === null ? null : apartSinceMs + byMs,
    movedMs: movedMs + byMs,
  };
}
