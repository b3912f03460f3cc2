import { figuresMax } from '../decide/handoff/trigger.ts';
import type { SessionFacts } from '../detect/session.ts';
import type { ContextReading } from '../model/agent.ts';
import type { SessionEvent } from '../model/session-event.ts';
import type { ContextPoint } from '../model/store.ts';
import { shown } from '../model/text.ts';

type Figure = Pick<ContextReading, 'used' | 'window'>;

/** The context of one agent's session from figure to figure: a point whenever it changes. */
export class ContextTrail {
  readonly #agent: string;
  #sessionId: string | null = null;
  #last: Figure | null = null;
  #points: ContextPoint[] = [];
  /** A compaction whose result is not known yet. */
  #compacted: string | null = null;

  constructor(agent: string) {
    this.#agent = agent;
  }

  /** The newest of the session, the oldest first: its record is read from the start, so a restart does not lose them. */
  get points(): readonly ContextPoint[] {
    return this.#points;
  }

  /** `known`: the last figure that is on record of it. */
  begin(sessionId: string | null, known: Figure | null): void {
    this.#sessionId = sessionId;
    this.#last = known;
    this.#points = [];
    this.#compacted = null;
  }

  /** After an event of the client's own record was taken in. */
  told({ fact, atMs }: SessionEvent, reading: ContextReading | null, facts: SessionFacts): ContextPoint[] {
    if (fact.kind === 'compacted') this.#compacted = shown(fact.trigger, 40) || 'unknown';
    if (reading === null || facts.contextAtMs !== atMs) return [];
    const usedBefore = fact.kind === 'compacted' ? fact.tokensBefore : null;
    return this.#point({ ...reading, atMs }, facts.turnSinceMs, usedBefore);
  }

  /** What any other source says. */
  seen(reading: ContextReading, facts: SessionFacts): ContextPoint[] {
    return this.#point(reading, facts.turnSinceMs, null);
  }

  #point(reading: ContextReading, turnAtMs: number | null, usedBefore: number | null): ContextPoint[] {
    const { used, window, usable, source, atMs } = reading;
    const before = this.#last;
    const compacted = this.#compacted;
    if (this.#sessionId === null) return [];
    if (compacted === null && before?.used === used && before.window === window) return [];
    this.#last = { used, window };
    this.#compacted = null;
    const point = {
      agent: this.#agent,
      sessionId: this.#sessionId,
      atMs,
      used,
      window,
      usable,
      source,
      turnAtMs,
      compacted,
      usedBefore: compacted === null ? null : (usedBefore ?? before?.used ?? null),
    };
    this.#points.push(point);
    if (this.#points.length > figuresMax) this.#points.shift();
    return [point];
  }
}
