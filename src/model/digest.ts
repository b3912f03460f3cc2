/** A short, stable name for a text, to compare texts by without keeping them. Not for secrets and not against forgery. */
export function digest(text: string): string {
  let low = lowStart;
  let high = highStart;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    low = Math.imul(low ^ code, lowFactor);
    high = Math.imul(high ^ code, highFactor);
  }
  return digestOf(low, high);
}

/** For those who change a text while they digest it: a long one is gone through once. */
export const lowStart = 0xdeadbeef | 0;
export const highStart = 0x41c6ce57;
export const lowFactor = 2654435761;
export const highFactor = 1597334677;

export function digestOf(low: number, high: number): string {
  const mixedLow = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  const mixedHigh = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(mixedLow ^ (mixedLow >>> 13), 3266489909);
  // Written out by hand: a number's own way to text is slow for large ones.
  return String.fromCharCode(
    firstLetter + (mixedHigh & 15),
    firstLetter + ((mixedHigh >>> 4) & 15),
    firstLetter + ((mixedHigh >>> 8) & 15),
    firstLetter + ((mixedHigh >>> 12) & 15),
    firstLetter + ((mixedHigh >>> 16) & 15),
    firstLetter + (mixedLow & 15),
    firstLetter + ((mixedLow >>> 4) & 15),
    firstLetter + ((mixedLow >>> 8) & 15),
    firstLetter + ((mixedLow >>> 12) & 15),
    firstLetter + ((mixedLow >>> 16) & 15),
    firstLetter + ((mixedLow >>> 20) & 15),
    firstLetter + ((mixedLow >>> 24) & 15),
    firstLetter + (mixedLow >>> 28),
  );
}

const firstLetter = 97;
