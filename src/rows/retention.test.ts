import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgingRows, ClockMark } from '../model/aging.ts';
import { ok } from '../model/result.ts';
import { Retention } from './retention.ts';

const hour = 3_600_000;
const day = 24 * hour;
const retentionDays = 30;
const startMs = Date.parse('2026-01-01T00:00:00Z');

interface Row {
  /** As the wall clock had it. */
  atMs: number;
  /** How long the machine had been on by then. */
  onMs: number;
}

/** A machine whose wall clock says anything, one daemon after the other on it, and the rows. */
class Machine {
  /** What the wall clock is wrong by. */
  wrongMs = 0;
  onMs = 0;
  rows: Row[] = [];
  /** How long each that went had been kept, of the time the machine was on. */
  readonly gone: number[] = [];
  marks: ClockMark[] = [];
  #offMs = 0;
  #bootOnMs = 0;
  #boots = 1;
  #monotonicMs = 0;
  #daemon: Retention | null = null;

  get nowMs(): number {
    return startMs + this.onMs + this.#offMs + this.wrongMs;
  }

  async start(): Promise<void> {
    const began = new Retention({
      host: 'h',
      store: {
        clockMarks: async () => ok([...this.marks]),
        addClockMark: async (_host, mark) => {
          this.marks.push(mark);
          return ok(undefined);
        },
        newestRowMs: async () => ok(this.rows.at(-1)?.atMs ?? null),
        expire: async (_host: string, rows: AgingRows, beforeMs: number) => {
          if (rows !== 'events') return ok(0);
          for (const { atMs, onMs } of this.rows) if (atMs < beforeMs) this.gone.push(this.onMs - onMs);
          this.rows = this.rows.filter(({ atMs }) => atMs >= beforeMs);
          return ok(0);
        },
      },
      clock: { nowMs: () => this.nowMs, monotonicMs: () => this.#monotonicMs },
      bootId: `boot ${this.#boots}`,
      bootMs: () => this.onMs - this.#bootOnMs,
      retentionDays: () => retentionDays,
      busy: () => false,
      failed: (error) => {
        throw error;
      },
    });
    expect(await began.begin()).not.toBeNull();
    this.#daemon = began;
    await this.#tick();
  }

  async #tick(): Promise<void> {
    await this.#daemon?.round();
    this.rows.push({ atMs: this.nowMs, onMs: this.onMs });
  }

  /** So long, with the daemon up. */
  async run(ms: number): Promise<void> {
    const endMs = this.onMs + ms;
    while (this.onMs < endMs) {
      this.onMs += hour;
      this.#monotonicMs += hour;
      await this.#tick();
    }
  }

  /** The processes stand still; on waking, time has passed. */
  async sleep(ms: number): Promise<void> {
    this.onMs += ms;
    await this.#tick();
  }

  async set(wrongMs: number): Promise<void> {
    this.wrongMs = wrongMs;
    await this.#tick();
  }

  async restart(offMs: number): Promise<void> {
    this.#offMs += offMs;
    if (offMs > 0) {
      this.#boots += 1;
      this.#bootOnMs = this.onMs;
    }
    await this.start();
  }

  get youngestGoneMs(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...this.gone);
  }
}

async function machine(): Promise<Machine> {
  const made = new Machine();
  await made.start();
  return made;
}

describe('what is too old', () => {
  it('goes after the retention, and no sooner', async () => {
    const made = await machine();
    await made.run(40 * day);
    expect(made.youngestGoneMs).toBeGreaterThanOrEqual(retentionDays * day);
    expect(Math.min(...made.rows.map(({ onMs }) => onMs))).toBeGreaterThan(9 * day);
    expect(made.gone.length).toBeGreaterThan(9 * 24);
  });

  it.each([-40 * day, -2 * hour, 2 * hour, 40 * day, 4_000 * day])(
    'is not more with a clock that is wrong by %d ms, at a start or in the middle, right again or not',
    async (wrongMs) => {
      const made = await machine();
      await made.run(20 * day);
      made.wrongMs = wrongMs;
      for (let times = 0; times < 3; times += 1) {
        await made.restart(0);
        await made.run(7 * hour);
      }
      await made.set(0);
      await made.run(day);
      await made.set(wrongMs);
      await made.run(7 * hour);
      await made.restart(0);
      await made.set(0);
      await made.restart(3 * hour);
      expect(made.gone).toEqual([]);
    },
  );

  it('of a database from before there were marks is known by its newest row, not by the clock', async () => {
    const made = new Machine();
    made.rows = Array.from({ length: 29 }, (_, days) => ({ atMs: startMs - (29 - days) * day, onMs: 0 }));
    made.wrongMs = 40 * day;
    await made.start();
    await made.run(7 * hour);
    await made.restart(0);
    await made.run(7 * hour);
    expect(made.gone).toEqual([]);
  });

  it('goes at the first start where the newest row says that it is old', async () => {
    const made = new Machine();
    made.rows = [
      { atMs: startMs - 31 * day, onMs: 0 },
      { atMs: startMs - hour, onMs: 0 },
    ];
    await made.start();
    expect(made.gone).toHaveLength(1);
  });

  it('whatever the clock does, never younger than the retention by the time the machine was on; right again, all goes', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('run' as const), ms: fc.integer({ min: 1, max: 200 }).map((n) => n * hour) }),
      fc.record({ do: fc.constant('sleep' as const), ms: fc.integer({ min: 1, max: 72 }).map((n) => n * hour) }),
      fc.record({ do: fc.constant('restart' as const), ms: fc.constantFrom(0, 0, hour, 16 * hour, 20 * day) }),
      fc.record({
        do: fc.constant('set' as const),
        ms: fc.constantFrom(0, 0, 2 * hour, -2 * hour, 40 * day, -40 * day, 400 * day),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const made = await machine();
        for (const { do: what, ms } of steps) await made[what](ms);
        expect(made.youngestGoneMs).toBeGreaterThanOrEqual(retentionDays * day);
        await made.set(0);
        const before = made.onMs;
        await made.run((retentionDays + 1) * day);
        const left = made.rows.filter(({ atMs, onMs }) => onMs < before && atMs <= made.nowMs);
        expect(left.filter(({ atMs }) => atMs < made.nowMs - (retentionDays + 1) * day)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  }, 120_000);
});
