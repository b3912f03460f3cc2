/** How much of a context window is used. All percents of a context come from here, so that none says another. */

/** From 0 to 100, in fractions. Multiplied first: 57 of 100 is 57, not 56.99999999999999. */
export function percentOf(used: number, window: number): number {
  return (used * 100) / window;
}

/** The whole percent that the client shows: it rounds the float, so that 115,000 of 200,000 are 57. */
export function wholePercent(percent: number): number {
  return Math.round((percent / 100) * 100);
}
