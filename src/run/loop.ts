/** Runs a slow full pass at its interval and a quick one in between, never two at once. */
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
  #running: Promise<void> | null = null;
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
    if (this.#stopped) return;
    if (fully) this.#nextTickMs = Math.min(this.#nextTickMs, performance.now() + settleMs);
    this.#wake(settleMs);
  }

  /** No pass runs or starts after this has resolved. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
  }

  #wake(inMs: number): void {
    const atMs = performance.now() + inMs;
    if (this.#stopped || this.#running !== null || atMs >= this.#timerAtMs) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    this.#timer = setTimeout(() => void this.#pass(), inMs);
  }

  async #pass(): Promise<void> {
    this.#timer = null;
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    this.#running = this.#once();
    await this.#running;
    this.#running = null;
    this.#wake(Math.max(0, Math.min(pulseMs, this.#nextTickMs - performance.now())));
  }

  async #once(): Promise<void> {
    try {
      if (performance.now() >= this.#nextTickMs) {
        this.#nextTickMs = performance.now() + this.#work.tickMs();
        await this.#work.tick();
      } else {
        this.#work.pulse();
      }
    } catch (error) {
      this.#work.failed(error);
    }
  }
}
