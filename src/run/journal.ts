import type { AgentView } from '../model/agent.ts';
import type { Counters } from '../model/counters.ts';
import type { WatchEvent } from '../model/event.ts';
import type { CheckRow, SessionRow, SpawnRow, Store, StoreBatch } from '../model/store.ts';

const eventsMax = 50_000;
const flushEventsMax = 2_000;

/**
 * What is waiting to be stored. The daemon goes on when the database is away: the newest row of each agent and
 * session and all events up to a bound are kept, and written in the order they came once it is back.
 */
export class Journal {
  readonly #store: Store;
  readonly #host: string;
  readonly #counters: Counters;
  #agents = new Map<string, AgentView>();
  #sessions = new Map<string, SessionRow>();
  #spawns = new Map<string, SpawnRow>();
  #events: WatchEvent[] = [];
  #checks: CheckRow[] = [];
  #flushing: Promise<boolean> | null = null;
  #failure: string | null = null;

  constructor(store: Store, host: string, counters: Counters) {
    this.#store = store;
    this.#host = host;
    this.#counters = counters;
  }

  get pending(): number {
    return this.#agents.size + this.#sessions.size + this.#spawns.size + this.#events.length + this.#checks.length;
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
    this.#checks.push(...batch.checks);
    this.#bound();
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
      const batch = this.#next();
      const written = await this.#store.write(this.#host, batch);
      if (written.ok) {
        this.#failure = null;
        continue;
      }
      this.#failure = written.message;
      if (written.reason === 'refused') {
        // The server will never take this batch: without it the rows behind it can still be stored.
        this.#counters.add('store.refused', batch.events.length);
        continue;
      }
      this.#counters.add('store.unavailable');
      this.#putBack(batch);
      return false;
    }
    return true;
  }

  #next(): StoreBatch {
    const whole = this.#events.length <= flushEventsMax;
    const batch: StoreBatch = {
      agents: [...this.#agents.values()],
      // How far a transcript is recorded may only be written together with the last of its events.
      sessions: whole ? [...this.#sessions.values()] : [],
      events: this.#events.splice(0, flushEventsMax),
      spawns: [...this.#spawns.values()],
      checks: this.#checks.splice(0),
    };
    this.#agents.clear();
    this.#spawns.clear();
    if (whole) this.#sessions.clear();
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
    this.#checks.unshift(...batch.checks);
    this.#bound();
  }

  #bound(): void {
    const over = this.#events.length - eventsMax;
    if (over > 0) {
      this.#events.splice(0, over);
      this.#counters.add('store.dropped-events', over);
    }
    const checksOver = this.#checks.length - eventsMax;
    if (checksOver > 0) this.#checks.splice(0, checksOver);
  }
}
