import type { Action, ActionOutcome } from '../model/action.ts';
import type { Incident } from '../model/incident.ts';
import { keepNewest } from '../model/keep-newest.ts';
import { fail, ok, type Result } from '../model/result.ts';
import type { Score } from '../model/score.ts';
import type { Store, StoreFailure } from '../model/store.ts';
import type { Clock } from '../model/world.ts';
import type { Spool } from './spool.ts';

interface Parts {
  store: Store;
  spool: Spool;
  clock: Clock;
  flush: () => Promise<boolean>;
  failed: (error: unknown) => void;
}

/** A database that hangs keeps nobody from being told. */
const answerMs = 3_000;
const againMs = 2_000;
const waitingMax = 1_000;
const bareMax = 200;
/** An agent that this run has not seen by then is gone; what was told about it is stored without it. */
const seenByMs = 3_600_000;

/**
 * Troubles and messages to people do not wait for the database: their rows do. Everything typed still needs its row first,
 * and is refused without it. What people were told is in the spool meanwhile, so that a kill does not forget it.
 */
export class WaitingRows {
  /** The same store, but for what may wait. */
  readonly store: Store;
  readonly #parts: Parts;
  /** As they were last: the newest row of each is the one that counts. */
  readonly #known = new Map<string, Incident>();
  readonly #incidents = new Map<string, Incident>();
  /** Of those the spool has. */
  readonly #kept = new WeakSet<Incident>();
  readonly #scores = new Map<string, Score>();
  #outcomes: ActionOutcome[] = [];
  /** Messages that neither the database nor a disk took before they went out, if they did. */
  readonly #bare = new Map<string, { incident: Incident; action: Action }>();
  readonly #sinceMs: number;
  #writing: Promise<void> | null = null;
  #again = false;
  #nextTryMs = Number.NEGATIVE_INFINITY;
  #away: string | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sinceMs = parts.clock.monotonicMs();
    this.store = {
      ...parts.store,
      intend: (action) => this.#intend(action),
      conclude: (outcome) => this.#conclude(outcome),
      saveIncident: (incident) => this.#take(incident),
      saveScore: (score) => this.#later(() => keepNewest(this.#scores, score.incident, score, waitingMax)),
      openIncidents: (host) => this.#openIncidents(host),
    };
  }

  /** Why rows wait; null: none does. */
  get away(): string | null {
    return this.#away;
  }

  /** Why the last file of what people were told was not written; null: it was. */
  get spoolFailure(): string | null {
    return this.#parts.spool.failure;
  }

  /** What an earlier run told people while the database was away, before anything is decided. */
  async restore(): Promise<boolean> {
    this.#parts.spool.load();
    await this.#write();
    return true;
  }

  /** For whatever waits; once a tick. */
  catchUp(): void {
    const { spool } = this.#parts;
    if (this.#away !== null) spool.writeAgain();
    const waiting = this.#incidents.size + this.#scores.size + this.#outcomes.length;
    if (waiting + spool.told.length > 0) void this.#write();
    else this.#away = null;
  }

  /** Until what can be written is. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  async #intend(action: Action): Promise<Result<void, StoreFailure>> {
    const { store, spool } = this.#parts;
    if (action.kind !== 'notify') return store.intend(action);
    const intended = this.#isAway ? null : await this.#within(store.intend(action));
    if (intended?.ok || intended?.reason === 'refused') return intended;
    const incident = this.#known.get(action.finding ?? '');
    if (incident !== undefined && spool.intend(incident, action)) return ok(undefined);
    if (incident !== undefined) keepNewest(this.#bare, action.id, { incident, action }, bareMax);
    return fail('unavailable', intended?.message ?? 'the database does not answer');
  }

  async #conclude(outcome: ActionOutcome): Promise<Result<void, StoreFailure>> {
    const bare = this.#bare.get(outcome.actionId);
    this.#bare.delete(outcome.actionId);
    if (bare !== undefined) this.#parts.spool.add(bare.incident, bare.action, outcome);
    if (bare !== undefined || this.#parts.spool.conclude(outcome)) return ok(undefined);
    const concluded = this.#isAway ? null : await this.#within(this.#parts.store.conclude(outcome));
    if (concluded?.ok || concluded?.reason === 'refused') return concluded;
    this.#outcomes = [...this.#outcomes, outcome].slice(-waitingMax);
    return ok(undefined);
  }

  /** Not ok: it waits. Nobody is prompted about a trouble without a row: a restart would count its prompts anew. */
  async #take(incident: Incident): Promise<Result<void, StoreFailure>> {
    keepNewest(this.#known, incident.id, { ...incident }, waitingMax);
    await this.#later(() => keepNewest(this.#incidents, incident.id, { ...incident }, waitingMax));
    return this.#incidents.has(incident.id) ? fail('unavailable', 'it waits for the database') : ok(undefined);
  }

  async #later(take: () => void): Promise<Result<void, StoreFailure>> {
    take();
    await this.#within(this.#write());
    return ok(undefined);
  }

  async #openIncidents(host: string): Promise<Result<Incident[], StoreFailure>> {
    const stored = await this.#parts.store.openIncidents(host);
    if (!stored.ok) return stored;
    const open = new Map(stored.value.map((incident) => [incident.id, incident]));
    for (const { incident } of this.#parts.spool.told) {
      if (incident.closedMs === null) open.set(incident.id, merged(open.get(incident.id) ?? incident, incident));
      else open.delete(incident.id);
    }
    for (const incident of open.values()) keepNewest(this.#known, incident.id, { ...incident }, waitingMax);
    return ok([...open.values()]);
  }

  get #isAway(): boolean {
    return this.#parts.clock.monotonicMs() < this.#nextTryMs;
  }

  /** One at a time; what comes meanwhile is taken along. */
  #write(): Promise<void> {
    this.#again = true;
    this.#writing ??= this.#writeAll()
      .catch(this.#parts.failed)
      .finally(() => {
        this.#writing = null;
      });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#again && !this.#isAway) {
      this.#again = false;
      const failure = await this.#writeOnce();
      this.#away = failure;
      if (failure !== null) this.#nextTryMs = this.#parts.clock.monotonicMs() + againMs;
    }
    if (this.#away === null) return;
    // What people know of is not forgotten by a kill.
    for (const incident of this.#incidents.values()) {
      if (this.#kept.has(incident) || (incident.tells === 0 && incident.ackedMs === null)) continue;
      this.#kept.add(incident);
      this.#parts.spool.keep(incident);
    }
  }

  /** Agents first, since all else refers to them. */
  async #writeOnce(): Promise<string | null> {
    const { store, flush } = this.#parts;
    if (!(await flush())) return 'other rows wait';
    return (
      (await this.#writeSpool()) ??
      (await this.#each(this.#incidents, ([, incident]) => store.saveIncident(incident))) ??
      (await this.#each(this.#scores, ([, score]) => store.saveScore(score))) ??
      (await this.#writeOutcomes())
    );
  }

  async #writeSpool(): Promise<string | null> {
    const { store, spool, clock } = this.#parts;
    const anyway = clock.monotonicMs() - this.#sinceMs > seenByMs;
    for (const told of spool.told) {
      const stored = await store.storeTold(told, anyway);
      const failure = this.#failure(stored);
      if (failure !== null) return failure;
      if (!stored.ok || stored.value === 'stored') spool.remove(told);
    }
    return null;
  }

  async #each<T>(
    rows: Map<string, T>,
    write: (row: [string, T]) => Promise<Result<void, StoreFailure>>,
  ): Promise<string | null> {
    for (const [id, row] of [...rows]) {
      const failure = this.#failure(await write([id, row]));
      if (failure !== null) return failure;
      if (rows.get(id) === row) rows.delete(id);
    }
    return null;
  }

  async #writeOutcomes(): Promise<string | null> {
    for (let outcome = this.#outcomes[0]; outcome !== undefined; outcome = this.#outcomes[0]) {
      const failure = this.#failure(await this.#parts.store.conclude(outcome));
      if (failure !== null) return failure;
      this.#outcomes = this.#outcomes.filter((one) => one !== outcome);
    }
    return null;
  }

  /** Why it has to be tried again; what would be refused again is a bug, on record as that, and not tried again. */
  #failure(written: Result<unknown, StoreFailure>): string | null {
    if (written.ok) return null;
    if (written.reason === 'unavailable') return written.message;
    this.#parts.failed(new Error(`a row was not stored: ${written.message}`));
    return null;
  }

  #within<T>(work: Promise<T>): Promise<T | null> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#nextTryMs = this.#parts.clock.monotonicMs() + againMs;
        resolve(null);
      }, answerMs);
      work.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }
}

/** Whoever knows of more messages, or of a person's word, is right. */
function merged(stored: Incident, spooled: Incident): Incident {
  const newer = spooled.tells > stored.tells ? spooled : stored;
  return { ...stored, tells: newer.tells, lastTellMs: newer.lastTellMs, ackedMs: stored.ackedMs ?? spooled.ackedMs };
}
