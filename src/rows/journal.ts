import type { Sighting } from '../model/agent.ts';
import type { Counters } from '../model/counters.ts';
import type { WatchEvent } from '../model/event.ts';
import type { SpawnRow } from '../model/spawn.ts';
import {
  type CheckRow,
  type ContextPoint,
  emptyBatch,
  type SessionRow,
  type Store,
  type StoreBatch,
} from '../model/store.ts';

const eventsMax = 50_000;

/**
 * What is waiting to be stored. The daemon goes on when the database is away: the newest row of each agent and
 * session and all events up to a bound are kept, and written in the order they came once it is back.
 */
export class Journal {
  readonly #store: Store;
  readonly #host: string;
  readonly #counters: Counters;
  #agents = new Map<string, Sighting>();
  #sessions = new Map<string, SessionRow>();
  #spawns = new Map<string, SpawnRow>();
  #events: WatchEvent[] = [];
  #points: ContextPoint[] = [];
  #checks: CheckRow[] = [];
  #flushing: Promise<boolean> | null = null;
  #failure: string | null = null;

  constructor(store: Store, host: string, counters: Counters) {
    this.#store = store;
    this.#host = host;
    this.#counters = counters;
  }

  get pending(): number {
    const newest = this.#agents.size + this.#sessions.size + this.#spawns.size;
    return newest + this.#events.length + this.#points.length + this.#checks.length;
  }

  /** Why the last flush failed; null when it did not. */
  get failure(): string | null {
    return this.#failure;
  }

  add(batch: StoreBatch): void {
    for (const view of batch.agents) this.#agents.set(view.agent, view);
    for (const row of batch.sessions) this.#sessions.set(`${row.agent}\n${row.sessionId}`, row);
    for (const row of batch.spawns) this.#spawns.set(`${row.project}\n${row.taskId}`, row);
    for (const event of batch.events) this.#events.push(event);
    for (const point of batch.points) this.#points.push(point);
    this.#checks.push(...batch.checks);
    this.#bound();
  }

  addCheck(row: CheckRow): void {
    this.add({ ...emptyBatch(), checks: [row] });
  }

  /** Writes what is waiting; true when nothing is left. Only one flush runs at a time. */
  async flush(): Promise<boolean> {
    this.#flushing ??= this.#writeAll().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  async #writeAll(): Promise<boolean> {
    while (this.pending > 0) {
      const batch = this.#takeAll();
      const written = await this.#store.write(this.#host, batch);
      if (written.ok) {
        this.#failure = null;
        continue;
      }
      this.#failure = written.message;
      // The server will never take this batch as it is, but all of it that is good.
      if (written.reason === 'refused' && (await this.#writeInParts(batch))) continue;
      this.#counters.add('store.unavailable');
      this.#putBack(batch);
      return false;
    }
    return true;
  }

  /** Agents first, since all else refers to them; how far a transcript is recorded last. */
  async #writeInParts(batch: StoreBatch): Promise<boolean> {
    const only = (part: Partial<StoreBatch>) => ({ ...emptyBatch(), ...part });
    return (
      (await this.#writeGood(batch.agents, (agents) => only({ agents }))) &&
      (await this.#writeGood(batch.events, (events) => only({ events }))) &&
      (await this.#writeGood(batch.spawns, (spawns) => only({ spawns }))) &&
      (await this.#writeGood(batch.points, (points) => only({ points }))) &&
      (await this.#writeGood(batch.checks, (checks) => only({ checks }))) &&
      (await this.#writeGood(batch.sessions, (sessions) => only({ sessions })))
    );
  }

  /** Halves what is refused until the bad rows are alone; those are dropped and counted. */
  async #writeGood<T>(rows: T[], batchOf: (rows: T[]) => StoreBatch): Promise<boolean> {
    if (rows.length === 0) return true;
    const written = await this.#store.write(this.#host, batchOf(rows));
    if (written.ok) return true;
    if (written.reason !== 'refused') return false;
    if (rows.length === 1) {
      this.#counters.add('store.refused');
      return true;
    }
    const middle = Math.ceil(rows.length / 2);
    return (
      (await this.#writeGood(rows.slice(0, middle), batchOf)) && (await this.#writeGood(rows.slice(middle), batchOf))
    );
  }

  /** All of it in one transaction: an agent's row and the event that says the same are never apart. */
  #takeAll(): StoreBatch {
    const batch: StoreBatch = {
      agents: [...this.#agents.values()],
      sessions: [...this.#sessions.values()],
      events: this.#events,
      spawns: [...this.#spawns.values()],
      points: this.#points,
      checks: this.#checks,
    };
    this.#agents.clear();
    this.#sessions.clear();
    this.#spawns.clear();
    this.#events = [];
    this.#points = [];
    this.#checks = [];
    return batch;
  }

  #putBack(batch: StoreBatch): void {
    this.#agents = new Map([...batch.agents.map((view) => [view.agent, view] as const), ...this.#agents]);
    this.#sessions = new Map([
      ...batch.sessions.map((row) => [`${row.agent}\n${row.sessionId}`, row] as const),
      ...this.#sessions,
    ]);
    this.#spawns = new Map([
      ...batch.spawns.map((row) => [`${row.project}\n${row.taskId}`, row] as const),
      ...this.#spawns,
    ]);
    this.#events = [...batch.events, ...this.#events];
    this.#points = [...batch.points, ...this.#points];
    this.#checks.unshift(...batch.checks);
    this.#bound();
  }

  #bound(): void {
    const over = this.#events.length - eventsMax;
    if (over > 0) {
      this.#events.splice(0, over);
      this.#counters.add('store.dropped-events', over);
    }
    const pointsOver = this.#points.length - eventsMax;
    if (pointsOver > 0) this.#points.splice(0, pointsOver);
    const checksOver = this.#checks.length - eventsMax;
    if (checksOver > 0) this.#checks.splice(0, checksOver);
  }
}
