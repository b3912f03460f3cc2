/** Context windows as the status line of the shipped client (2.1.325) reports them for some forty model names. */
const large = 1_000_000;
const usual = 200_000;
/** The client refuses prompts this far before the window is full (seen at 180,000 of 200,000 and 980,000 of 1,000,000). */
const reserve = 20_000;

/** It compacts by itself this far before the window is full, on every model tried but those of 4.5. */
const compactionReserve = 33_000;

/** Where the client compacts by itself, unless its user switched that off; null: it does not on this model. */
export function compactionPoint(model: string, window: number): number | null {
  return /\bclaude-(?:opus|sonnet|haiku)-4-5\b/.test(model) ? null : window - compactionReserve;
}

export function contextWindow(model: string, used: number): { window: number; usable: number } {
  // A figure beyond the smaller window proves the larger one, whatever the name says.
  const window = isUsual(model) && used <= usual ? usual : large;
  return { window, usable: window - reserve };
}

/** Claude 3, and 4 up to 4.6, unless the large variant was asked for. What is newer or unknown has the large one. */
function isUsual(model: string): boolean {
  if (/\[1m\]$/i.test(model)) return false;
  if (/\bclaude-3\b/.test(model)) return true;
  const version = /\bclaude-(?:opus|sonnet|haiku)-4(?:-(\d+))?/.exec(model);
  if (version === null) return false;
  const minor = Number(version[1] ?? 0);
  const isDate = minor > 1_000;
  return isDate || minor <= 6;
}
