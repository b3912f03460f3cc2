import { setTimeout as sleep } from 'node:timers/promises';
import { aheadSince, isMarkDue, keepFrom, passedSince } from '../decide/retention.ts';
import { type AgingRows, agingRows, type ClockMark } from '../model/aging.ts';
import type { Store } from '../model/store.ts';
import type { Clock } from '../model/world.ts';

interface RetentionParts {
  host: string;
  store: Pick<Store, 'expire' | 'clockMarks' | 'addClockMark' | 'newestRowMs'>;
  clock: Clock;
  bootId: string;
  /** Since the boot, sleep included. */
  bootMs: () => number;
  retentionDays: () => number;
  /** The database is being mended, or more important rows wait. */
  busy: () => boolean;
  failed: (error: unknown) => void;
}

const dayMs = 86_400_000;
const everyMs = 6 * 3_600_000;
const retryMs = 60_000;
/** A statement takes a moment at most, and others get theirs in between. */
const batchRows = 2_000;
const pauseMs = 100;
/** What the ledger says, and how troubles ended, is asked for long after. */
const longDaysMin = 365;
const long: readonly AgingRows[] = ['ledger', 'scores'];
const marksKeptMs = 2 * 3_650 * dayMs;

/** Throws out what is too old, by time that was lived through. */
export class Retention {
  readonly #parts: RetentionParts;
  #marks: ClockMark[] = [];
  #running: Promise<void> | null = null;
  #nextMs = 0;
  #isEnding = false;

  constructor(parts: RetentionParts) {
    this.#parts = parts;
  }

  /**
   * Before this run writes anything: the first time, the newest row tells how far time has come. Answers with how much the clock
   * has been set ahead since the last run, as far as that can be known; null: the rows could not be read.
   */
  async begin(): Promise<number | null> {
    const { store, host, clock } = this.#parts;
    const marks = await store.clockMarks(host);
    if (!marks.ok) return null;
    this.#marks = marks.value;
    const last = this.#marks.at(-1);
    if (last !== undefined) return aheadSince(last, this.#now());
    const newest = await store.newestRowMs(host);
    if (!newest.ok) return null;
    const atMs = Math.min(clock.nowMs(), newest.value ?? Number.POSITIVE_INFINITY);
    return (await this.#mark({ ...this.#now(), atMs })) ? 0 : null;
  }

  /** Once a tick. */
  async round(): Promise<void> {
    if (this.#running !== null || this.#isEnding || this.#parts.busy()) return;
    this.#running = this.#round().catch(this.#parts.failed);
    await this.#running;
    this.#running = null;
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#running;
  }

  async #round(): Promise<void> {
    const now = this.#now();
    const last = this.#marks.at(-1);
    if (last === undefined) return;
    if (isMarkDue(last, now) && !(await this.#mark(now))) return;
    const monotonicMs = this.#parts.clock.monotonicMs();
    if (monotonicMs < this.#nextMs) return;
    this.#nextMs = monotonicMs + retryMs;
    const days = this.#parts.retentionDays();
    for (const rows of agingRows) {
      const keptDays = long.includes(rows) ? Math.max(longDaysMin, days) : days;
      if (!(await this.#expire(rows, keepFrom(this.#marks, now, keptDays * dayMs)))) return;
    }
    this.#nextMs = monotonicMs + everyMs;
  }

  async #expire(rows: AgingRows, beforeMs: number): Promise<boolean> {
    for (;;) {
      if (this.#isEnding) return false;
      const gone = await this.#parts.store.expire(this.#parts.host, rows, beforeMs, batchRows);
      if (!gone.ok) return false;
      if (gone.value < batchRows) return true;
      await sleep(pauseMs);
    }
  }

  #now(): ClockMark {
    const { clock, bootId, bootMs } = this.#parts;
    const boot = { bootId, bootMs: bootMs() };
    const last = this.#marks.at(-1);
    return { ...boot, atMs: clock.nowMs(), passedMs: last === undefined ? 0 : passedSince(last, boot) };
  }

  async #mark(mark: ClockMark): Promise<boolean> {
    const added = await this.#parts.store.addClockMark(this.#parts.host, mark, marksKeptMs);
    if (added.ok) this.#marks.push(mark);
    return added.ok;
  }
}
