const gapsMax = 100;

/**
 * Stretches in which nobody could look: the machine slept, or this program stood still. An age takes them out, for what
 * shows no sign of life then has no chance to.
 */
export class Attention {
  readonly #gapMs: number;
  #gaps: { fromMs: number; toMs: number }[] = [];
  #lastMs: number | null = null;

  /** `gapMs`: passes further apart than this have a gap between them. */
  constructor(gapMs: number) {
    this.#gapMs = gapMs;
  }

  pass(nowMs: number): void {
    // The clock was set back: what lies in the future was no absence.
    if (this.#lastMs !== null && nowMs < this.#lastMs)
      this.#gaps = this.#gaps.map(({ fromMs, toMs }) => ({
        fromMs: Math.min(fromMs, nowMs),
        toMs: Math.min(toMs, nowMs),
      }));
    if (this.#lastMs !== null && nowMs - this.#lastMs > this.#gapMs)
      this.#gaps = [...this.#gaps, { fromMs: this.#lastMs, toMs: nowMs }].slice(-gapsMax);
    this.#lastMs = nowMs;
  }

  /** How much of the time since then nobody looked. */
  missedSince(sinceMs: number): number {
    return this.#gaps.reduce((total, { fromMs, toMs }) => total + Math.max(0, toMs - Math.max(fromMs, sinceMs)), 0);
  }
}
