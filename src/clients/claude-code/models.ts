/** Context windows by model, as the status line of the shipped client reports them. */
const large = 1_000_000;
const usual = 200_000;
/** The client refuses prompts this far before the window is full (seen at 180,000 of 200,000 and 980,000 of 1,000,000). */
const reserve = 20_000;

export function contextWindow(model: string, used: number): { window: number; usable: number } {
  // A figure beyond the smaller window proves the larger one.
  const window = isLarge(model) || used > usual ? large : usual;
  return { window, usable: window - reserve };
}

function isLarge(model: string): boolean {
  return /\[1m\]$/i.test(model) || /^claude-(opus|sonnet|fable)-([5-9]|\d\d)/.test(model);
}
