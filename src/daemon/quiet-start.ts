import type { Clock } from '../model/world.ts';

/** Nobody has said yet how long it lasts. */
const unsaidMs = 86_400_000;

/** The time after a start in which rules do nothing. A clock that is set makes it neither shorter nor longer. */
export class QuietStart {
  readonly #clock: Clock;
  #endMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#endMs = clock.monotonicMs() + unsaidMs;
  }

  /** It begins now. */
  begin(lastsMs: number): void {
    this.#endMs = this.#clock.monotonicMs() + lastsMs;
  }

  /** By the wall clock, as it is now; null: it is over. */
  untilMs(): number | null {
    const leftMs = this.#endMs - this.#clock.monotonicMs();
    return leftMs > 0 ? Math.round(this.#clock.nowMs() + leftMs) : null;
  }
}
