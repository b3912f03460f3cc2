import { setTimeout as sleep } from 'node:timers/promises';
import type { Proof } from '../../act/deliver.ts';
import type { Action, DeedReason, Refusal } from '../../model/action.ts';
import { keepNewest } from '../../model/keep-newest.ts';
import {
  type Deed,
  type DeedWorld,
  type Doing,
  type Done,
  type Heard,
  type OpenDeed,
  type Order,
  proofMs,
} from './deed.ts';

declare module '../../model/action.ts' {
  interface DeedNames {
    interrupt: true;
  }
}

export interface InterruptOrder extends Order {
  agent: string;
}

/** From our Escape to the client's record of it, and what the clocks of two writers differ by. */
const recordMs = 5_000;
/** A turn that was over by then without a record leaves none: its prompt is back in the box. */
const soonMs = 3_000;
/** What was queued is on record this soon after the interruption. */
const nextMs = 500;
const pollMs = 50;
const agentsMax = 1_000;

/** One key that ends the turn which runs, proved by the client's own record of the interruption. */
export class Interrupt implements Deed<InterruptOrder, 'confirmed'> {
  readonly needs = 'manage';
  readonly points = ['pressed', 'proved'];
  readonly passing: readonly DeedReason[] = ['human-typing', 'pane-mode', 'stale'];
  readonly #world: DeedWorld;
  /** When each was last interrupted by us. */
  readonly #pressedMs = new Map<string, number>();
  /** Deeds after which the client went on with what was queued. */
  readonly #wentOn = new Map<string, true>();

  constructor(world: DeedWorld) {
    this.#world = world;
  }

  intent() {
    return {};
  }

  against({ agent }: InterruptOrder): Promise<Refusal[]> {
    return this.#world.typist.againstInterrupt(agent);
  }

  async do({ agent }: InterruptOrder, action: Action, doing: Doing): Promise<Done<'confirmed'>> {
    const { clock, typist } = this.#world;
    const pressed = await typist.interrupt({ ...action, agent });
    if (pressed !== 'done' && pressed !== 'unknown') return nothing('refused', pressed);
    const pressedMs = clock.monotonicMs();
    keepNewest(this.#pressedMs, agent, clock.nowMs(), agentsMax);
    await doing.at('pressed');
    const isOver = () => this.#world.agent(agent)?.view?.reading.state === 'idle';
    const proof = (await doing.prove(soonMs)) ?? (isOver() ? null : await doing.prove(proofMs - soonMs));
    const tookMs = Math.round(clock.monotonicMs() - pressedMs);
    await doing.at('proved');
    if (proof === null) return nothing('uncertain', isOver() ? 'no-record' : 'no-proof');
    return { outcome: 'confirmed', reason: (await this.#goesOn(action)) ? 'went-on' : null, proof, proofMs: tookMs };
  }

  /** Its client begins what was queued behind the turn as soon as that is interrupted. */
  async #goesOn({ id }: Action): Promise<boolean> {
    const { clock } = this.#world;
    for (const endMs = clock.monotonicMs() + nextMs; clock.monotonicMs() < endMs && !this.#wentOn.has(id); )
      await sleep(pollMs);
    return this.#wentOn.delete(id);
  }

  proves({ action }: OpenDeed, heard: Heard): Proof | null {
    if (!('event' in heard)) return null;
    const { atMs, fact } = heard.event;
    if (fact.kind === 'prompt' && fact.origin === 'queued' && atMs >= action.atMs)
      keepNewest(this.#wentOn, action.id, true, agentsMax);
    if (fact.kind !== 'interrupted') return null;
    // A later one is somebody else's.
    if (atMs < action.atMs || atMs > action.atMs + proofMs + recordMs) return null;
    return { queued: false, source: 'transcript', nameless: false, atMs };
  }

  /** Was a turn that ended so at this time interrupted by us? */
  wasOurs(agent: string, atMs: number): boolean {
    const pressedMs = this.#pressedMs.get(agent);
    return pressedMs !== undefined && Math.abs(atMs - pressedMs) < recordMs;
  }
}

function nothing(outcome: 'refused' | 'uncertain', reason: DeedReason): Done<'confirmed'> {
  return { outcome, reason, proof: null, proofMs: null };
}
