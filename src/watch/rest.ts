import type { Sighting } from '../model/agent.ts';

/** Whatever is written a moment late, or judged a moment after, has come by then. */
const settleMs = 10_000;
/** So often everyone is looked at all the same: a look is the truth, whatever was overlooked. */
const everyMs = 30_000;

/** Whether an agent need not be looked at again before something of it changes. Times are those of the monotonic clock. */
export class Rest {
  #lookedMs = Number.NEGATIVE_INFINITY;
  #movedMs = Number.NEGATIVE_INFINITY;
  #rests = false;

  /** `isNew`: this look brought something. */
  looked(view: Sighting | null, isNew: boolean, monotonicMs: number): void {
    this.#lookedMs = monotonicMs;
    if (isNew) this.#movedMs = monotonicMs;
    this.#rests = view !== null && staysAsItIs(view);
  }

  lasts(monotonicMs: number): boolean {
    return this.#rests && monotonicMs - this.#movedMs >= settleMs && monotonicMs - this.#lookedMs < everyMs;
  }
}

/** No time that passes changes how it is seen. */
function staysAsItIs({ reading, background, refused, limitedUntilMs }: Sighting): boolean {
  return reading.state === 'idle' && background.length === 0 && refused === null && limitedUntilMs === null;
}
