import { digestOf, highFactor, highStart, lowFactor, lowStart } from '../model/digest.ts';
import { isBlank, isWideBlank } from './blanks.ts';
import type { JsonObject } from './json.ts';

const inputCharsMax = 64_000;

/** The digest of a text whose blanks do not matter. */
export function squeezedDigest(head: string, text: string): string {
  let low = lowStart;
  let high = highStart;
  for (let index = 0; index < head.length; index += 1) {
    const code = head.charCodeAt(index);
    low = Math.imul(low ^ code, lowFactor);
    high = Math.imul(high ^ code, highFactor);
  }
  let blank = false;
  let begun = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (isBlank(code)) {
      blank = begun;
      continue;
    }
    if (blank) {
      low = Math.imul(low ^ 32, lowFactor);
      high = Math.imul(high ^ 32, highFactor);
    }
    blank = false;
    begun = true;
    low = Math.imul(low ^ code, lowFactor);
    high = Math.imul(high ^ code, highFactor);
  }
  return digestOf(low, high);
}

/**
 * The digest of the arguments of a call as if they were written as JSON first, which would take longer than all the rest:
 * blanks do not matter, line breaks do.
 */
export function inputDigest(tool: string, input: JsonObject, leftOut: string): string {
  low = lowStart;
  high = highStart;
  add(tool);
  for (const key of Object.keys(input)) {
    const value = input[key];
    if (key === leftOut) continue;
    add('\n');
    add(key);
    const isText = typeof value === 'string';
    add(isText ? '=' : ':');
    add(isText ? value : written(value));
  }
  return digestOf(low, high);
}

/** What is nested too deep to be written is left out. */
function written(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '';
  }
}

/** Of the digest that is being made. Kept here: a digest is of many small texts, and an object for each would cost more. */
let low = lowStart;
let high = highStart;

function add(text: string): void {
  let ownLow = low;
  let ownHigh = high;
  let blank = false;
  const end = Math.min(text.length, inputCharsMax);
  for (let index = 0; index < end; index += 1) {
    const code = text.charCodeAt(index);
    const isBlank = code === 32 || (code >= 128 && isWideBlank(code));
    if (isBlank && blank) continue;
    blank = isBlank;
    ownLow = Math.imul(ownLow ^ (isBlank ? 32 : code), lowFactor);
    ownHigh = Math.imul(ownHigh ^ (isBlank ? 32 : code), highFactor);
  }
  low = ownLow;
  high = ownHigh;
}
