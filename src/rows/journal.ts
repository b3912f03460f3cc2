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
  #waiting = nothing();
  #flushing: Promise<boolean> | null = null;
  #failure: string | null = null;

  constructor(store: Store, host: string, counters: Counters) {
    this.#store = store;
    this.#host = host;
    this.#counters = counters;
  }

  get pending(): number {
    const { agents, sessions, spawns, events, points, checks } = this.#waiting;
    return agents.size + sessions.size + spawns.size + events.length + points.length + checks.length;
  }

  /** Why the last flush failed; null when it did not. */
  get failure(): string | null {
    return this.#failure;
  }

  add(batch: StoreBatch): void {
    put(this.#waiting, batch);
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
    const { agents, sessions, spawns, ...lists } = this.#waiting;
    this.#waiting = nothing();
    return { ...lists, agents: [...agents.values()], sessions: [...sessions.values()], spawns: [...spawns.values()] };
  }

  /** What came meanwhile is newer. */
  #putBack(batch: StoreBatch): void {
    const newer = this.#takeAll();
    put(this.#waiting, batch);
    put(this.#waiting, newer);
    this.#bound();
  }

  #bound(): void {
    const { events, points, checks } = this.#waiting;
    for (const list of [events, points, checks]) {
      const over = list.length - eventsMax;
      if (over <= 0) continue;
      list.splice(0, over);
      if (list === events) this.#counters.add('store.dropped-events', over);
    }
  }
}

function nothing() {
  return {
    ...{ agents: new Map<string, Sighting>(), sessions: new Map<string, SessionRow>() },
    ...{ spawns: new Map<string, SpawnRow>(), events: [] as WatchEvent[] },
    ...{ points: [] as ContextPoint[], checks: [] as CheckRow[] },
  };
}

/** Of agents, sessions and spawns the newest row counts. */
function put(waiting: ReturnType<typeof nothing>, batch: StoreBatch): void {
  for (const view of batch.agents) waiting.agents.set(view.agent, view);
  for (const row of batch.sessions) waiting.sessions.set(`${row.agent}\n${row.sessionId}`, row);
  for (const row of batch.spawns) waiting.spawns.set(`${row.project}\n${row.taskId}`, row);
  for (const kind of ['events', 'points', 'checks'] as const)
    for (const row of batch[kind]) (waiting[kind] as unknown[]).push(row);
}
