import path from 'node:path';
import { z } from 'zod';
import { checkNames } from '../detect/checks.ts';
import { type ContextSource, details, type Source, states } from '../model/agent.ts';
import type { Caller } from '../model/caller.ts';
import type { Json } from '../model/event.ts';
import { notAfter } from '../model/not-after.ts';
import { printable, shown } from '../model/text.ts';

// What comes back from a table may have been put there by anybody who can write there. These are the shapes of what
// Watchkeeper itself writes; a row that has another one is left out.

/** Told of each row that is left out: its table, its key, and what is wrong with it. */
export type OddRow = (table: string, row: string, why: string) => void;

/** For commands that only show what is there. */
export const leftOut: OddRow = () => {};

/** The rows that are as they should be. `key`: by what a row is known again. */
export function sound<T>(
  table: string,
  shape: z.ZodType<T>,
  rows: readonly unknown[],
  odd: OddRow,
  key: (row: never) => unknown = (row: { id: unknown }) => row.id,
): T[] {
  return rows.flatMap((row) => {
    const read = shape.safeParse(row);
    if (read.success) return [read.data];
    const [issue] = read.error.issues;
    odd(table, shown(String(key(row as never)), 200), `${issue?.path.join('.')}: ${issue?.message}`);
    return [];
  });
}

const fetchedCharsMax = 20_000;

/** Of a text only so much is fetched that it can be seen to be too long: somebody may have put gigabytes there. */
export function texts(table: string, ...columns: string[]): string {
  return columns.map((name) => `left(${table}.${name}, ${fetchedCharsMax}) AS ${name}`).join(', ');
}

const jsonBytesMax = 200_000;

export function json(table: string, column: string): string {
  return `CASE WHEN pg_column_size(${table}.${column}) < ${jsonBytesMax} THEN ${table}.${column} END AS ${column}`;
}

/** By which something is known again, such as a name: taken as it is, or not at all. */
export function exact(charsMax = 500) {
  return z
    .string()
    .min(1)
    .max(charsMax)
    .refine((text) => printable(text) === text, 'characters that cannot be shown');
}

/** What is only shown. */
export function words(charsMax = 2_000) {
  return z.string().transform((text) => shown(text, charsMax));
}

export function matching(pattern: RegExp) {
  return z.string().regex(pattern);
}

/** Who asked for something, as it stands in a row. */
export const caller = z
  .string()
  .max(600)
  .refine((text): text is Caller => /^(rule|(human|agent) .+)$/.test(text) && printable(text) === text);

/** It becomes part of a path. */
export const sessionId = matching(/^[\w-]{8,64}$/);
export const digits = matching(/^\d{1,20}$/);
export const count = z.number().int().min(0);
/** A bigint comes as a text. */
export const bigCount = matching(/^\d{1,15}$/).transform(Number);

const lastMs = Date.UTC(10_000, 0);

const startedMs = Date.now();

/**
 * A time that was stored by a clock that was ahead counts as now, or rather as when this process began: what an agent's record says
 * of the time before it was read counts as of a little later, and stays after what was done to it.
 */
function past(atMs: number): number {
  return atMs <= Date.now() ? atMs : notAfter(startedMs, Date.now());
}

/** PostgreSQL also knows years that no record of an agent has, and infinity. */
export const moment = z
  .date()
  .transform((at) => at.getTime())
  .refine((atMs) => atMs >= 0 && atMs < lastMs, 'no time of ours')
  .transform(past);
/** As it stands in JSON. */
export const writtenMoment = z
  .string()
  .transform((at) => new Date(at))
  .pipe(moment);

/** Absolute and written the one way there is. */
export const place = exact(4_096).refine((text) => path.isAbsolute(text) && path.resolve(text) === text, 'no place');

/** Every word of a type: a new one does not compile before it is here. */
function oneOf<T extends string>(all: Readonly<Record<T, true>>) {
  return z.enum(Object.keys(all) as [T, ...T[]]);
}

const deepestJson = 8;
const entriesMax = 200;

/** JSON as it may be shown: no text in it can do anything to a terminal, and it has an end. */
function shownJson(value: unknown, depth = 0): Json {
  if (typeof value === 'string') return shown(value, 5_000);
  if (typeof value !== 'object' || value === null) return value as Json;
  if (depth >= deepestJson) return null;
  if (Array.isArray(value)) return value.slice(0, entriesMax).map((each) => shownJson(each, depth + 1));
  const entries = Object.entries(value).slice(0, entriesMax);
  return Object.fromEntries(entries.map(([key, each]) => [shown(key, 200), shownJson(each, depth + 1)]));
}

export const jsonObject = z
  .record(z.string(), z.unknown())
  .transform((all) => shownJson(all) as { [key: string]: Json });

export const checkName = z.enum(checkNames);

const sources = {
  hook: true,
  registry: true,
  transcript: true,
  statusline: true,
  screen: true,
  process: true,
} as const;
export const source = oneOf<Source>(sources);
export const contextSource = oneOf<ContextSource>({ ...sources, ps_sessions: true, answer: true });

export const state = z.enum(states);
export const detail = z.enum(details);
