/** Runs a slow full pass at its interval, one at a time, and a quick one in between, also while a slow one waits. */
export interface LoopWork {
  tick(): Promise<void>;
  pulse(): void;
  tickMs(): number;
  failed(error: unknown): void;
}

/** A process can end without any file changing: so often is it looked for. */
const pulseMs = 500;
/** A burst of changes is one look. */
const settleMs = 60;

export class Loop {
  readonly #work: LoopWork;
  #stopped = false;
  #ticking: Promise<void> | null = null;
  #nextTickMs = 0;
  #timer: NodeJS.Timeout | null = null;
  #timerAtMs = Number.POSITIVE_INFINITY;

  constructor(work: LoopWork) {
    this.#work = work;
  }

  start(): void {
    this.#nextTickMs = performance.now() + this.#work.tickMs();
    this.#wake(pulseMs);
  }

  /** Something changed: look soon. `fully` also looks for new agents. */
  nudge(fully: boolean): void {
    if (fully) this.#nextTickMs = Math.min(this.#nextTickMs, performance.now() + settleMs);
    this.#wake(settleMs);
  }

  /** No pass runs or starts after this has resolved. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#ticking;
  }

  #wake(inMs: number): void {
    const atMs = performance.now() + inMs;
    if (this.#stopped || atMs >= this.#timerAtMs) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    this.#timer = setTimeout(() => this.#pass(), inMs);
  }

  #wakeInTime(): void {
    const untilTickMs = this.#ticking === null ? this.#nextTickMs - performance.now() : pulseMs;
    this.#wake(Math.max(0, Math.min(pulseMs, untilTickMs)));
  }

  #pass(): void {
    this.#timer = null;
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    if (this.#ticking === null && performance.now() >= this.#nextTickMs) this.#ticking = this.#tick();
    else this.#pulse();
    this.#wakeInTime();
  }

  /** A tmux server that does not answer can hold this up for seconds; the agents known are looked at all the same. */
  async #tick(): Promise<void> {
    this.#nextTickMs = performance.now() + this.#work.tickMs();
    try {
      await this.#work.tick();
    } catch (error) {
      this.#work.failed(error);
    }
    this.#ticking = null;
    this.#wakeInTime();
  }

  #pulse(): void {
    try {
      this.#work.pulse();
    } catch (error) {
      this.#work.failed(error);
    }
  }
}
