import type { RunEvent } from '../model/run-event.ts';
import type { RunCounts } from './read-run.ts';

const dayMs = 24 * 3_600_000;
/** A clock that is wrong is wrong by an hour at least, as by the time zone; after less, a record is merely late. */
const jumpMs = 50 * 60_000;
const heldMax = 200;

type Take = (event: RunEvent, counts: Readonly<RunCounts>) => void;

/**
 * Takes away times that cannot be: of the future, and of a single record that is far ahead of those on both its sides. One
 * wrong time would make a silence, and hide the real ones after it.
 */
export class SteadyTimes {
  readonly #latestMs: number;
  readonly #take: Take;
  /** Jumped ahead: whether that was time passing, the next record shows. */
  #held: { event: RunEvent; counts: RunCounts }[] = [];
  #lastMs = Number.NaN;

  /** `nowMs`: of the reading; clocks of other machines may be ahead of it by a day. */
  constructor(nowMs: number, take: Take) {
    this.#latestMs = nowMs + dayMs;
    this.#take = take;
  }

  take(event: RunEvent, counts: Readonly<RunCounts>): void {
    const { atMs } = event;
    if (atMs > this.#latestMs) this.#next({ ...event, atMs: Number.NaN }, counts);
    else this.#next(event, counts);
  }

  /** Nothing comes any more. */
  end(): void {
    this.#release(false);
  }

  #next(event: RunEvent, counts: Readonly<RunCounts>): void {
    const { atMs, index } = event;
    const [first] = this.#held;
    if (first !== undefined && !Number.isNaN(atMs) && index !== first.event.index)
      this.#release(isOdd(first.event.atMs, this.#lastMs, atMs));
    // The very first time is as doubtful as one that jumped.
    const isSteady = Number.isNaN(atMs) || atMs - this.#lastMs <= jumpMs;
    if (this.#held.length === 0 && isSteady) {
      if (atMs > this.#lastMs) this.#lastMs = atMs;
      this.#take(event, counts);
      return;
    }
    // Asked for now: the whole output is read again for it, and later the file may be closed.
    if (event.fact.kind === 'tool-result') void event.fact.sign?.hash;
    this.#held.push({ event, counts: { ...counts } });
    if (this.#held.length >= heldMax) this.#release(false);
  }

  #release(isOddTime: boolean): void {
    const held = this.#held;
    const [first] = held;
    if (first === undefined) return;
    this.#held = [];
    if (!isOddTime) this.#lastMs = first.event.atMs;
    for (const { event, counts } of held) this.#take(isOddTime ? { ...event, atMs: Number.NaN } : event, counts);
  }
}

/** Nearer to what was before the jump than to the jump; of the very first one, far from what came after it. */
function isOdd(jumpedMs: number, beforeMs: number, afterMs: number): boolean {
  if (Number.isNaN(beforeMs)) return Math.abs(afterMs - jumpedMs) > dayMs;
  return afterMs - beforeMs < (jumpedMs - beforeMs) / 2;
}
