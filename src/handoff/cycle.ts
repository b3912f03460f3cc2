import type { Move } from '../decide/handoff/moves.ts';
import { type HandoffSigns, moveSigns, newHandoffSigns, takeHandoffSign } from '../detect/handoff-signs.ts';
import type { Caller } from '../model/caller.ts';
import type { Json } from '../model/event.ts';
import type { Handoff, HandoffAction, HandoffChange, HandoffDeed, HandoffStepTaken } from '../model/handoff.ts';
import { notAfter } from '../model/not-after.ts';
import type { SessionEvent } from '../model/session-event.ts';

const sessionsMax = 4;
const retryMs = { first: 1_000, last: 30_000 };

/** One handoff under way, with what this run knows of it. All else is in the store. */
export class Cycle {
  readonly handoff: Handoff;
  /** Something is being done or looked up for it at this moment. */
  busy = false;
  /** What was decided last, for whoever asks why. */
  move: Move = { do: 'wait', reason: 'just-requested' };
  /** Since when it has only been waiting. */
  waitsSinceMs: number | null = null;
  actions: HandoffAction[] = [];
  /** It is one of those that run at the same time. */
  placed = false;
  /** A refusal is on record once, not at every tick. */
  lastRefusal: string | null = null;
  /** By which the permission to write the document is withdrawn; undefined: an earlier run may have given one. */
  allowance: string | null | undefined = undefined;
  allowedUntilMs = 0;
  /** false: it is a row that was read, and yet to be judged. */
  isOurs: boolean;
  readonly #signs = new Map<string, HandoffSigns>();
  readonly #known = new Map<string, { atMs: number; monotonicMs: number }>();
  #stepAgeMs = 0;
  #lookedMs: number;
  #counted = true;
  #retryAtMs = 0;
  #retryWaitMs = retryMs.first;

  constructor(handoff: Handoff, monotonicMs: number, isOurs = true) {
    this.handoff = handoff;
    this.isOurs = isOurs;
    this.#lookedMs = monotonicMs;
  }

  signs(sessionId: string | null): HandoffSigns {
    return this.#signs.get(sessionId ?? '') ?? newHandoffSigns();
  }

  told(sessionId: string, event: SessionEvent): void {
    const signs = this.#signs.get(sessionId) ?? newHandoffSigns();
    this.#signs.set(sessionId, signs);
    const oldest = this.#signs.keys().next().value;
    if (this.#signs.size > sessionsMax && oldest !== undefined && oldest !== this.handoff.oldSession)
      this.#signs.delete(oldest);
    takeHandoffSign(signs, event, this.handoff.file);
  }

  /** As it is on record now. */
  took(step: HandoffStepTaken, change: HandoffChange): void {
    const { handoff } = this;
    handoff.steps.push(step);
    handoff.newSession = change.newSession ?? handoff.newSession;
    handoff.sentBack = change.sentBack ?? handoff.sentBack;
    handoff.file = change.file ?? handoff.file;
    handoff.sha256 = change.document?.sha256 ?? handoff.sha256;
  }

  /** What is on record may be another's word: it is judged anew. */
  readAgain(row: Handoff): void {
    Object.assign(this.handoff, row);
    this.isOurs = false;
  }

  /** How long this run has seen it at its step, without what did not count. */
  get stepAgeMs(): number {
    return this.#stepAgeMs;
  }

  /** The time since the last look counts if it did then, too: nobody knows when in between that changed. */
  passed(monotonicMs: number, counts: boolean): void {
    if (counts && this.#counted) this.#stepAgeMs += monotonicMs - this.#lookedMs;
    this.#lookedMs = monotonicMs;
    this.#counted = counts;
  }

  beginStep(monotonicMs: number): void {
    this.#stepAgeMs = 0;
    this.#lookedMs = monotonicMs;
    this.#counted = true;
    this.#retryAtMs = 0;
    this.#retryWaitMs = retryMs.first;
    this.lastRefusal = null;
  }

  isPausing(monotonicMs: number): boolean {
    return monotonicMs < this.#retryAtMs;
  }

  /** When this run first knew of each action: from then on its age counts, whatever the wall clock says. */
  learn(actions: HandoffAction[], monotonicMs: number): HandoffAction[] {
    for (const action of actions) {
      const known = this.#known.get(action.id) ?? { atMs: action.atMs, monotonicMs };
      this.#known.set(action.id, { ...known, atMs: Math.min(known.atMs, action.atMs) });
      // The agent's record is by the clock as it is now.
      action.atMs = Math.min(known.atMs, action.atMs);
    }
    return actions;
  }

  agesMs(monotonicMs: number): ReadonlyMap<string, number> {
    return new Map([...this.#known].map(([id, known]) => [id, monotonicMs - known.monotonicMs]));
  }

  /** The wall clock was set: nothing on record is ahead of what the agent's record says from now on. */
  clockSet(byMs: number, nowMs: number): void {
    if (byMs < 0) moveHandoff(this.handoff, byMs, nowMs);
    if (byMs < 0) for (const known of this.#known.values()) known.atMs += byMs;
    if (byMs < 0) for (const signs of this.#signs.values()) moveSigns(signs, byMs);
    if (this.waitsSinceMs !== null) this.waitsSinceMs += byMs;
    // Given anew, by the clock as it is now.
    this.allowedUntilMs = 0;
  }

  /** What was refused is tried again, at first soon and then less often. */
  pause(monotonicMs: number): void {
    this.#retryAtMs = monotonicMs + this.#retryWaitMs;
    this.#retryWaitMs = Math.min(2 * this.#retryWaitMs, retryMs.last);
  }

  /** What stands in the intent of an action for it. */
  order(deed: HandoffDeed, why: string | null): { by: Caller | null; about: { [key: string]: Json } } {
    const { id, steps, by } = this.handoff;
    return { by, about: { handoff: id, deed, after: steps.length, why } };
  }

  /** What our own earlier words may have left in the box: also those that an Escape has put back there. */
  get leftovers(): string[] {
    return this.actions.flatMap(({ typed }) => (typed === null ? [] : [typed]));
  }
}

export function moveHandoff(handoff: Handoff, byMs: number, nowMs: number): void {
  handoff.requestedMs = notAfter(handoff.requestedMs + byMs, nowMs);
  for (const step of handoff.steps) step.atMs = notAfter(step.atMs + byMs, nowMs);
}
