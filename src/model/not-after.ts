/** Times by their names that may lie ahead: until when something holds. */
const ahead: ReadonlySet<string> = new Set(['untilMs', 'limitResetsAtMs', 'resetsAtMs']);

/** A time later than now counts as now: the clock was ahead when it was noted. */
export function notAfter(timeMs: number, nowMs: number): number {
  return Math.min(timeMs, nowMs);
}

/** All times of a record, in place. They are known by their names. */
export function keepNotAfter(record: object, nowMs: number): void {
  for (const [name, value] of Object.entries(record)) {
    if (typeof value === 'number' && name.endsWith('Ms') && value > nowMs && !ahead.has(name))
      Object.assign(record, { [name]: nowMs });
    else if (value instanceof Map) keepNotAfter(Object.fromEntries(value), nowMs);
    else if (typeof value === 'object' && value !== null) keepNotAfter(value, nowMs);
  }
}
