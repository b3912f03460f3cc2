import path from 'node:path';
import { z } from 'zod';

// Every rule's `error` is the phrase that completes "… is not allowed: ", so a message always says what would be.

export const secondsMax = 86_400;
export const minutesMax = 525_600;
const listItemsMax = 1_000;
const textCharsMax = 1_000;

export function amount(max: number) {
  const error = `a number greater than 0 and at most ${max}`;
  return z.number({ error }).gt(0, { error }).lte(max, { error });
}

export function amountFromZero(max: number) {
  const error = `a number from 0 to ${max}`;
  return z.number({ error }).min(0, { error }).max(max, { error });
}

export function percent() {
  const error = 'a number greater than 0 and less than 100';
  return z.number({ error }).gt(0, { error }).lt(100, { error });
}

const factorError = 'a number greater than 1 and at most 1000';

export function factor() {
  return z.number({ error: factorError }).gt(1, { error: factorError }).lte(1_000, { error: factorError });
}

export function countFrom(min: number) {
  const error = `a whole number from ${min} to 1000`;
  return z.int({ error }).min(min, { error }).max(1_000, { error });
}

export function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, { error: `one of: ${values.join(', ')}` });
}

export function text(error: string) {
  return z
    .string({ error })
    .min(1, { error })
    .max(textCharsMax, { error: `${error}, at most ${textCharsMax} characters` })
    .refine((value) => !value.includes('\0'), { error });
}

export function list<T extends z.ZodType>(item: T, what: string) {
  const error = `a list of ${what}, at most ${listItemsMax}`;
  return z.array(item, { error }).max(listItemsMax, { error });
}

/** A mapping without room for unknown keys. For those the message is the bare list of allowed keys. */
export function section<T extends z.ZodRawShape>(shape: T) {
  const keys = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? keys : `a mapping with the keys: ${keys}`),
  });
}

export function isAnchoredPath(value: string): boolean {
  return path.isAbsolute(value) || value === '~' || value.startsWith('~/');
}

/** Relative and not able to leave the directory it is relative to. */
export function isInsidePath(value: string): boolean {
  return !isAnchoredPath(value) && !value.startsWith('~') && !value.split(/[\\/]/).includes('..');
}
