import type { ClockTrust } from '../decide/steady-people.ts';
import type { Clock } from '../model/world.ts';

/** What the two clocks drift apart by themselves, and a busy machine between two looks, is less. */
const jumpMinMs = 1_000;

/** By so much the wall clock was set, or the machine slept. `nowMs`: what it says now. */
type Heard = (byMs: number, nowMs: number) => void;

/**
 * The system's clocks. Whoever keeps a time to wait by hears of it when the wall clock is set, before anybody sees the new
 * time: what is kept moves along, so that an interval is as long as it would have been, neither cut short nor drawn out.
 */
export class WatchfulClock implements Clock {
  readonly #clock: Clock;
  readonly #listeners: Heard[] = [];
  #apartMs: number;
  #steadyFromMs = Number.NEGATIVE_INFINITY;
  readonly #startedMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#apartMs = clock.nowMs() - clock.monotonicMs();
    this.#startedMs = clock.monotonicMs();
  }

  onSet(heard: Heard): void {
    this.#listeners.push(heard);
  }

  nowMs(): number {
    const monotonicMs = this.#clock.monotonicMs();
    const nowMs = this.#clock.nowMs();
    const byMs = nowMs - monotonicMs - this.#apartMs;
    if (Math.abs(byMs) < jumpMinMs) return nowMs;
    this.#apartMs += byMs;
    this.tell(byMs, nowMs);
    return nowMs;
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  /** For how long the two have gone together. */
  trust(): ClockTrust {
    this.nowMs();
    const monotonicMs = this.#clock.monotonicMs();
    return { steadyForMs: monotonicMs - this.#steadyFromMs, knownForMs: monotonicMs - this.#startedMs };
  }

  /** It was set while nobody looked. */
  tell(byMs: number, nowMs: number): void {
    this.#steadyFromMs = this.#clock.monotonicMs();
    for (const heard of this.#listeners) heard(byMs, nowMs);
  }
}
