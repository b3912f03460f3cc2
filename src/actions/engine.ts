import { randomUUID } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Proof } from '../act/deliver.ts';
import { against, isRules } from '../decide/gate.ts';
import type { Action, DeedKind, DeedReason, Refusal } from '../model/action.ts';
import type { Authority, Sighting } from '../model/agent.ts';
import type { Json } from '../model/event.ts';
import type { HoldStanding } from '../model/hold.ts';
import { keepNewest } from '../model/keep-newest.ts';
import type { SessionEvent } from '../model/session-event.ts';
import type { Store } from '../model/store.ts';
import type { HeardHook } from '../watch/agent-inbox.ts';
import * as all from './deeds/all.ts';
import { type Deed, type DeedWorld, type Done, type Heard, type OpenDeed, type Order, proofMs } from './deeds/deed.ts';

type Definitions = typeof all;
type Deeds = { readonly [K in keyof Definitions]: InstanceType<Definitions[K]> };
export type OrderOf<K extends DeedKind> = Parameters<Deeds[K]['do']>[0];
type DoneOf<K extends DeedKind> = Awaited<ReturnType<Deeds[K]['do']>>;
/** How it ended, and what is on record of it. */
export type Did<K extends DeedKind> = DoneOf<K> & { action: Action };

export interface EngineParts extends Omit<DeedWorld, 'conclude'> {
  host: string;
  store: Pick<Store, 'intend' | 'conclude' | 'openActions'>;
  paused: () => boolean;
  /** Until when rules do nothing, for the daemon has only just started; null: they may. */
  quietUntilMs: () => number | null;
  /** Rows that the ledger points at have to be there first. */
  flush: () => Promise<boolean>;
  lookSoon: (agent: string) => void;
  /** Whose agent it is, looked up in this moment. */
  hold: (view: Sighting) => HoldStanding;
  /** The number under which it is ours; null: it is not. */
  holdNumber: (view: Sighting) => number | null;
  /** Where a deed has come to: a test ends the daemon there. */
  at?: (kind: DeedKind, point: string) => Promise<void>;
}

function isDeed(kind: Action['kind']): kind is DeedKind {
  return Object.hasOwn(all, kind);
}

/** A deed from its row to the last word on it. */
interface Open extends OpenDeed {
  deed: Deed;
  proof: Proof | null;
  proved: ((proof: Proof) => void) | null;
  /** The ledger says that nobody knows; a proof that comes later is written too. */
  isUncertain: boolean;
  concluded: Promise<void>;
  conclude(): void;
}

/** Between these and a deed's own `points` a daemon may be killed. */
export const enginePoints = ['asked', 'intended', 'done', 'concluded'] as const;
/** The same for a daemon of its own: published with the kind and the point. */
const published = channel('watchkeeper:deed');

const openMax = 1_000;
const pollMs = 100;
/** A moment that fits is looked for this often. */
const retryMs = 500;
/** A database that hangs does not hold up what is done without a row. */
const flushMs = 3_000;

/**
 * Whatever is done goes this way: row → gate → still due? → do → proof → outcome, for each agent one at a time. What it is
 * that is done, and what proves it, its definition says (`deeds/`). Killed on the way, the next run looks for the proof of
 * what has a row and no outcome; it does nothing again.
 */
export class Engine {
  readonly deeds: Deeds;
  readonly #parts: EngineParts;
  readonly #open = new Map<string, Open>();
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(parts: EngineParts) {
    this.#parts = parts;
    const world: DeedWorld = { ...parts, conclude: parts.store.conclude };
    // A kind without a definition does not compile.
    const made: { [K in DeedKind]: Deeds[K] } = Object.fromEntries(
      Object.entries<new (world: DeedWorld) => unknown>(all).map(([kind, Definition]) => [kind, new Definition(world)]),
    ) as unknown as Deeds;
    this.deeds = made;
  }

  /** Agents to whom something is being done. */
  get busy(): ReadonlySet<string> {
    return new Set(this.#turns.keys());
  }

  /** Waits until nothing else is done to this agent. */
  inTurn<T>(agent: string, work: () => Promise<T>): Promise<T> {
    const mine = (this.#turns.get(agent) ?? Promise.resolve()).then(work);
    const done = mine
      .catch(() => {})
      .then(() => {
        if (this.#turns.get(agent) === done) this.#turns.delete(agent);
      });
    this.#turns.set(agent, done);
    return mine;
  }

  do<K extends DeedKind>(kind: K, order: OrderOf<K>): Promise<Did<K>> {
    const sinceMs = this.#parts.clock.monotonicMs();
    const work = () => this.#whenFit(kind, order, sinceMs) as Promise<Did<K>>;
    const isToAgent = order.agent !== null && this.#deed(kind).needs !== null && this.#deed(kind).needs !== 'observe';
    return isToAgent ? this.inTurn(order.agent ?? '', work) : work();
  }

  /** Puts on record that it is not done, and why. */
  async drop(kind: DeedKind, about: Order, intent: { [key: string]: Json }, reason: Refusal): Promise<void> {
    const action = this.#action(kind, about, intent);
    const one = this.#begin(this.#deed(kind), action);
    await this.#parts.flush();
    await this.#parts.store.intend(action);
    await this.#conclude(action, { ...nothing, outcome: 'refused', reason });
    this.#over(one);
  }

  /** Everything that speaks against it at this moment. Nothing is done and nothing written. */
  async against<K extends DeedKind>(kind: K, order: OrderOf<K>): Promise<Refusal[]> {
    const deed = this.#deed(kind);
    const own = deed.whyNot?.(order, this.#parts.clock.monotonicMs()) ?? null;
    const now = (await deed.against?.(order)) ?? [];
    return [...new Set([...this.#atGate(deed.needs, order), ...(own === null ? [] : [own]), ...now])];
  }

  /** Everything the agents' own records say passes here. */
  told(agent: string, event: SessionEvent): void {
    this.#heard(agent, { event });
    this.deeds.prompt.answers.told(agent, event);
  }

  hooked(agent: string, hook: HeardHook): void {
    this.#heard(agent, { hook });
  }

  /** What an earlier run left without an outcome: its truth is looked for, it is never done again. */
  async recover(only: ReadonlySet<string> | null = null): Promise<boolean> {
    const open = await this.#parts.store.openActions(this.#parts.host);
    if (!open.ok) return false;
    for (const { action, delivered } of open.value) {
      // The tables' own, or a later version's.
      if (!isDeed(action.kind) || this.#open.has(action.id)) continue;
      if (only !== null && !only.has(action.agent ?? '')) continue;
      const one = this.#begin(this.#deed(action.kind), action);
      one.deed.begun?.(action, one.concluded);
      if (delivered) this.#over(one);
      else void this.#settle(one);
    }
    return true;
  }

  async #settle(one: Open): Promise<void> {
    const { deed } = one;
    const canProve = deed.proves !== undefined || deed.found !== undefined;
    const proof = canProve ? await this.#proof(one, proofMs) : null;
    await this.#lastWord(one, proof, 'daemon-restarted');
  }

  /** Of what nobody saw the end of. */
  async #lastWord(one: Open, proof: Proof | null, reason: DeedReason): Promise<void> {
    const no = proof === null ? null : (one.deed.saidNo?.(one.action) ?? null);
    const outcome = proof === null ? 'uncertain' : no !== null ? 'refused' : proof.queued ? 'queued' : 'confirmed';
    one.isUncertain = proof === null;
    await this.#conclude(one.action, { outcome, reason: no ?? reason, proof, proofMs: null });
    this.#over(one);
  }

  async #whenFit(kind: DeedKind, order: Order, sinceMs: number): Promise<Done & { action: Action }> {
    const waitMs = order.waitMs ?? 0;
    const endMs = this.#parts.clock.monotonicMs() + waitMs;
    for (;;) {
      const done = await this.#once(kind, order, sinceMs);
      const left = endMs - this.#parts.clock.monotonicMs();
      const passes = done.outcome === 'refused' && this.#deed(kind).passing?.includes(done.reason) === true;
      if (!passes || waitMs === 0 || left <= 0) return done;
      await sleep(Math.min(retryMs, left));
    }
  }

  async #once(kind: DeedKind, order: Order, sinceMs: number): Promise<Done & { action: Action }> {
    const { store } = this.#parts;
    const deed = this.#deed(kind);
    const action = this.#action(kind, order, deed.intent(order));
    const refused = (reason: DeedReason) => ({ ...nothing, outcome: 'refused', reason, action });
    const known = order.quietAbout ?? null;
    if (known !== null && (await this.#peek(deed, order, sinceMs)) === known) return refused(known);
    if (deed.isRefusedQuietly === true) {
      const refusal = this.#whyNot(deed, order, sinceMs);
      if (refusal !== null) return refused(refusal);
    }
    const one = this.#begin(deed, action);
    await this.#flush(deed);
    await this.#at(kind, 'asked');
    const hasRow = (await store.intend(action)).ok;
    if (!hasRow && deed.isDoneWithoutRow?.(order) !== true) {
      this.#open.delete(action.id);
      return refused('no-ledger');
    }
    await this.#at(kind, 'intended');
    const refusal = this.#whyNot(deed, order, sinceMs);
    if (refusal !== null) {
      this.#open.delete(action.id);
      await this.#conclude(action, { ...nothing, outcome: 'refused', reason: refusal });
      return refused(refusal);
    }
    deed.begun?.(action, one.concluded);
    const done = await this.#do(one, order, hasRow);
    await this.#at(kind, 'done');
    one.isUncertain = done.outcome === 'uncertain';
    await this.#conclude(action, done);
    await this.#at(kind, 'concluded');
    if (done.outcome === 'refused') deed.refused?.(action);
    this.#over(one);
    // It came while the deed was taking its leave.
    if (one.isUncertain && one.proof !== null) this.#prove(one, one.proof);
    return { ...done, action };
  }

  async #do(one: Open, order: Order, hasRow: boolean): Promise<Done> {
    const { deed, action } = one;
    one.isBeingDone = true;
    const view = action.agent === null ? null : (this.#parts.agent(action.agent)?.view ?? null);
    one.wasBusy = view?.reading.state !== 'idle';
    const at = (point: string) => this.#at(action.kind as DeedKind, point);
    const done = await deed.do(order, action, { hasRow, at, prove: (timeoutMs) => this.#proof(one, timeoutMs) });
    one.isBeingDone = false;
    const no = deed.saidNo?.(action) ?? null;
    return no === null ? done : { ...done, outcome: 'refused', reason: no };
  }

  #deed(kind: DeedKind): Deed {
    return this.deeds[kind] as unknown as Deed;
  }

  #action(
    kind: DeedKind,
    { host, agent, trigger, finding, by, about }: Order,
    intent: { [key: string]: Json },
  ): Action {
    const view = agent === null ? null : (this.#parts.agent(agent)?.view ?? null);
    // Whoever has lost it by then cannot finish: tmux itself compares the number.
    const hold = view === null ? {} : { hold: this.#parts.holdNumber(view) };
    const atMs = this.#parts.clock.nowMs();
    const whole = { ...intent, by, ...about, ...hold };
    return { id: randomUUID(), atMs, host, agent, kind, trigger, finding, intent: whole };
  }

  /** Would it be refused now? Nothing is done and nothing written. */
  async #peek(deed: Deed, order: Order, sinceMs: number): Promise<Refusal | null> {
    return this.#whyNot(deed, order, sinceMs) ?? (await deed.against?.(order))?.[0] ?? null;
  }

  #whyNot(deed: Deed, order: Order, sinceMs: number): Refusal | null {
    const [refusal] = this.#atGate(deed.needs, order);
    return refusal ?? deed.whyNot?.(order, sinceMs) ?? null;
  }

  /** Pause, mode, a start, authority, and whose agent it is. People may be told of one that is not there any more. */
  #atGate(needs: Authority | null, order: Order): Refusal[] {
    if (needs === null) return [];
    const { agent } = order;
    const view = agent === null ? null : (this.#parts.agent(agent)?.view ?? null);
    if (view === null && needs !== 'observe') return ['not-agent'];
    const { config, paused, quietUntilMs, hold } = this.#parts;
    const { authority } = view ?? { authority: 'observe' as const };
    const facts = {
      mode: config().mode,
      paused: paused(),
      starting: isRules(order) && quietUntilMs() !== null,
      authority,
      hold: view === null ? 'none' : hold(view),
    } as const;
    return [...against(needs, facts)];
  }

  async #flush(deed: Deed): Promise<void> {
    const flushed = this.#parts.flush();
    await (deed.isDoneWithoutRow === undefined
      ? flushed
      : Promise.race([flushed, sleep(flushMs, false, { ref: false })]));
  }

  async #at(kind: DeedKind, point: string): Promise<void> {
    published.publish({ kind, point });
    await this.#parts.at?.(kind, point);
  }

  #begin(deed: Deed, action: Action): Open {
    let conclude: Open['conclude'] = () => {};
    const concluded = new Promise<void>((resolve) => {
      conclude = resolve;
    });
    const now = { isBeingDone: false, wasBusy: false, isUncertain: false };
    const one = { deed, action, proof: null, proved: null, ...now, concluded, conclude };
    keepNewest(this.#open, action.id, one, openMax);
    return one;
  }

  /** Of what is uncertain a proof may still come. */
  #over(one: Open): void {
    one.conclude();
    if (!one.isUncertain) this.#open.delete(one.action.id);
  }

  #heard(agent: string, heard: Heard): void {
    for (const one of this.#open.values()) {
      const proof = one.action.agent === agent ? (one.deed.proves?.(one, heard) ?? null) : null;
      if (proof !== null) this.#prove(one, proof);
    }
  }

  #prove(one: Open, proof: Proof): void {
    one.proof ??= proof;
    one.proved?.(proof);
    one.proved = null;
    if (!one.isUncertain) return;
    one.isUncertain = false;
    void one.concluded.then(() => this.#lastWord(one, proof, 'proved-late'));
  }

  async #proof(one: Open, timeoutMs: number): Promise<Proof | null> {
    const { clock, lookSoon, agent } = this.#parts;
    const { deed, action } = one;
    if (one.proof === null && action.agent !== null) lookSoon(action.agent);
    if (deed.found === undefined) return this.#heardProof(one, timeoutMs);
    for (const endMs = clock.monotonicMs() + timeoutMs; clock.monotonicMs() < endMs; ) {
      const now = agent(action.agent ?? '');
      if (one.proof === null && now !== null) one.proof = deed.found(action, now);
      if (one.proof !== null) return one.proof;
      lookSoon(action.agent ?? '');
      await new Promise((resolve) => setTimeout(resolve, pollMs).unref());
    }
    return null;
  }

  #heardProof(one: Open, timeoutMs: number): Promise<Proof | null> {
    if (one.proof !== null) return Promise.resolve(one.proof);
    return new Promise((resolve) => {
      // A stopping daemon does not wait for a proof: the next one looks for it.
      const timer = setTimeout(() => resolve(null), timeoutMs).unref();
      one.proved = (proof) => {
        clearTimeout(timer);
        resolve(proof);
      };
    });
  }

  async #conclude(action: Action, { outcome, reason, proof, proofMs: tookMs, draftRestored }: Done): Promise<void> {
    await this.#parts.store.conclude({
      actionId: action.id,
      atMs: this.#parts.clock.nowMs(),
      outcome,
      reason,
      proof:
        proof === null
          ? null
          : {
              source: proof.source,
              nameless: proof.nameless,
              at: new Date(proof.atMs).toISOString(),
              proof_ms: tookMs,
              draft_restored: draftRestored ?? null,
            },
    });
  }
}

const nothing = { reason: null, proof: null, proofMs: null };
