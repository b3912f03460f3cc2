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
  return text === null ? null : asTimeMs(timeOf(text));
}

/** What was last taken apart, kept since the next time is nearly always of the same hour; nothing else follows from it. */
let hour = '';
let hourBeganMs = Number.NaN;

/** Every record has a time, nearly always of the hour of the one before, and written like this: 2026-03-01T10:11:12.345Z. */
function timeOf(text: string): number {
  if (text.length !== 24 || text[16] !== ':' || text[19] !== '.' || text[23] !== 'Z') return Date.parse(text);
  if (hour === '' || !text.startsWith(hour)) {
    hour = text.slice(0, 14);
    // Midnight has two names, and one of them has no minutes.
    hourBeganMs = hour.endsWith('24:') ? Number.NaN : Date.parse(`${hour}00:00.000Z`);
  }
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  const milli = twoDigits(text, 20) * 10 + digit(text, 22);
  const ms = hourBeganMs + minute * 60_000 + second * 1000 + milli;
  return minute < 60 && second < 60 && !Number.isNaN(ms) ? ms : Date.parse(text);
}

function twoDigits(text: string, at: number): number {
  return digit(text, at) * 10 + digit(text, at + 1);
}

function digit(text: string, at: number): number {
  const value = text.charCodeAt(at) - 48;
  return value >= 0 && value <= 9 ? value : Number.NaN;
}

export function asObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.map(asObject).filter((item) => item !== null) : [];
}
