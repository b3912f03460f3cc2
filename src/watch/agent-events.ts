import { createHash, randomUUID } from 'node:crypto';
import { bandName } from '../decide/bands.ts';
import type { BandStay, Sighting } from '../model/agent.ts';
import type { Json, WatchEvent } from '../model/event.ts';
import type { SessionEvent, SessionFact } from '../model/session-event.ts';
import { shown } from '../model/text.ts';
import type { HeardHook } from './agent-inbox.ts';

/** What is seen of one agent, as the events that are told and stored. */
export class AgentEvents {
  readonly #host: string;
  readonly #agent: string;

  constructor(host: string, agent: string) {
    this.#host = host;
    this.#agent = agent;
  }

  ofTranscript(event: SessionEvent, transcript: string, sessionId: string | null): WatchEvent {
    const { kind, ...data } = withoutWords(event.fact);
    const id = stableId(`${this.#host}\n${transcript}\n${event.key}`);
    return this.#made(id, event.atMs, 'transcript', kind, data, sessionId);
  }

  ofHook({ hook, atMs, file }: HeardHook): WatchEvent {
    const { kind, ...fact } = hook.fact.kind === 'permission' ? { ...hook.fact, asks: undefined } : hook.fact;
    const data = { event: hook.name, kind, ...fact, subagent: hook.subagent };
    const id = stableId(`${this.#host}\n${file}\n${atMs}`);
    return this.#made(id, atMs, 'hook', 'hook', data, hook.sessionId);
  }

  /** Its context came into another band. */
  ofBand(previous: Sighting | null, view: Sighting, edges: readonly number[], nowMs: number): WatchEvent {
    const name = (band: BandStay | null) => (band === null ? null : bandName(band.index, edges));
    const { used = null, window = null, percent = null, atMs = nowMs } = view.context ?? {};
    const data = { band: name(view.band), from: name(previous?.band ?? null), percent, used, window };
    return this.of(atMs, 'watchkeeper', 'band', data, view.sessionId);
  }

  /** Our own word on it. */
  of(
    atMs: number,
    source: WatchEvent['source'],
    kind: string,
    data: { [key: string]: Json },
    sessionId: string | null,
  ): WatchEvent {
    return this.#made(randomUUID(), atMs, source, kind, data, sessionId);
  }

  #made(
    id: string,
    atMs: number,
    source: WatchEvent['source'],
    kind: string,
    data: { [key: string]: unknown },
    sessionId: string | null,
  ): WatchEvent {
    return { id, atMs, agent: this.#agent, sessionId, source, kind, data: cleanData(data) };
  }
}

/** What the model said and meant to run is not kept; only that it spoke and what tool it called. */
function withoutWords(fact: SessionFact): { kind: string } {
  if (fact.kind === 'reply') return { ...fact, text: undefined } as { kind: string };
  if (fact.kind === 'tool-call')
    return { ...fact, about: undefined, sign: undefined, asks: undefined } as { kind: string };
  return fact.kind === 'tool-result' ? ({ ...fact, sign: undefined } as { kind: string }) : fact;
}

function cleanData(value: { [key: string]: unknown }): { [key: string]: Json } {
  return JSON.parse(JSON.stringify(value, (_key, item) => (typeof item === 'string' ? shown(item, 500) : item)));
}

/** The same record always gets the same id, so that it is stored once however often it is read. */
function stableId(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
