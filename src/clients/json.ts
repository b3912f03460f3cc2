/** Looking into JSON of unknown shape without trusting any of it. */

export type JsonObject = { [key: string]: unknown };

export function asObject(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

/** One object written as JSON; null where it is anything else. */
export function parseObject(text: string): JsonObject | null {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return null;
  }
}

export function asString(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export function asNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** A count of tokens and the like: whole, not negative, not absurd. */
export function asCount(value: unknown): number | null {
  const number = asNumber(value);
  return number !== null && number >= 0 && number <= 1e8 ? Math.round(number) : null;
}

/** Year 2200: beyond it a date is an accident or an attack, and neither Date nor PostgreSQL takes every number. */
const timeMsMax = 7_258_118_400_000;

/** Epoch milliseconds. */
export function asTimeMs(value: unknown): number | null {
  const number = asNumber(value);
  return number !== null && number >= 0 && number <= timeMsMax ? number : null;
}

/** RFC 3339 text to epoch milliseconds. */
export function asTime(value: unknown): number | null {
  const text = asString(value);
  return text === null ? null : asTimeMs(Date.parse(text));
}

export function asObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(asObject).filter((item) => item !== null) : [];
}
