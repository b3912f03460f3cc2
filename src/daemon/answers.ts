import type { Config } from '../config/schema.ts';
import type { Counters } from '../model/counters.ts';
import type { Json, WatchEvent } from '../model/event.ts';
import { forget } from '../model/forgotten.ts';
import type { Result } from '../model/result.ts';
import type { Clock } from '../model/world.ts';
import type { Journal } from '../rows/journal.ts';
import type { Saver } from '../rows/saver.ts';
import type { Spawns } from '../spawns/spawns.ts';
import { countSources } from '../watch/agent-sources.ts';
import type { Watcher } from '../watch/watcher.ts';
import type { Acting } from './acting.ts';
import type { ControlRequest } from './requests.ts';
import { agentDocument, findingDocument, type StatusDocument } from './status.ts';

interface Parts {
  sinceMs: number;
  clock: Clock;
  counters: Counters;
  config: () => Config;
  /** Configuration files that were there and are not. */
  missing: () => string[];
  handoffWaits: (agent: string) => boolean;
  paused: () => boolean;
  watcher: Watcher;
  spawns: Spawns;
  acting: Acting;
  saver: Saver;
  journal: Journal;
  /** Why texts cannot be taken out of what is stored; null: they can. */
  whyKept: (forms: readonly string[]) => Promise<Result<string | null>>;
  stop: (keepDb: boolean) => void;
}

/** What the daemon says to whoever asks at its control socket. */
export class Answers {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async to(request: ControlRequest): Promise<unknown> {
    switch (request.ask) {
      case 'stop':
        // The answer has to be on its way before the socket goes.
        setImmediate(() => this.#parts.stop(request.keepDb));
        return { ok: true };
      case 'doctor':
        return this.#doctor();
      case 'prompt':
        return this.#parts.acting.say(request.agent, request.said, request.waitMs);
      case 'authority':
        return { ok: await this.#parts.acting.setAuthority(request.agent, request.authority) };
      case 'ack':
        return { ok: await this.#parts.acting.acknowledge(request.id, request.denied) };
      case 'inbox':
        return { v: 1, items: this.#parts.acting.inbox() };
      case 'compact':
        return this.#parts.acting.compact(request.agent);
      case 'handoff':
        return this.#parts.acting.handoffs.request(request.agent, request.dryRun);
      case 'handoff-state':
        return this.#parts.acting.handoffs.document(request.id);
      case 'forget':
        return this.#forget(request.forms);
      case 'why':
        return this.#parts.acting.why(request.agent);
      default:
        return this.status();
    }
  }

  async #forget(forms: readonly string[]): Promise<Json> {
    const why = await this.#parts.whyKept(forms);
    if (!why.ok) return { error: why.message };
    if (why.value !== null) return { error: why.value };
    forget(forms);
    // What waits to be written is without it too, and is written before the tables are gone through.
    return { ok: await this.#parts.journal.flush() };
  }

  status(): StatusDocument {
    const nowMs = this.#parts.clock.nowMs();
    const config = this.#parts.config();
    return {
      v: 1,
      daemon: {
        pid: process.pid,
        since: new Date(this.#parts.sinceMs).toISOString(),
        paused: this.#parts.paused(),
        mode: config.mode,
        config_missing: this.#parts.missing(),
        tick_ms: config.tickSeconds * 1000,
        bands: config.bands,
        prompts: { reacted: this.#parts.acting.reactions.total, in_time: this.#parts.acting.reactions.inTime },
      },
      agents: this.#parts.acting.views().map((view) => ({
        ...agentDocument(view, this.#parts.spawns.documents(view.agent), nowMs),
        handoff: this.#parts.acting.handoffs.running(view.agent),
        hold: this.#parts.acting.holdOn(view.agent),
        handoff_waits: this.#parts.handoffWaits(view.agent),
      })),
      findings: this.#parts.acting.loose().map(({ finding }) => findingDocument(finding)),
    };
  }

  #doctor(): Json {
    return {
      counters: this.#parts.counters.all(),
      servers: this.#parts.watcher.servers,
      database: {
        down: this.#parts.saver.isDown,
        waiting: this.#parts.journal.pending,
        failure: this.#parts.journal.failure,
      },
      channels: this.#parts.acting.channels.map(({ name, ok: works, reason }) => ({ name, ok: works, reason })),
      config_missing: this.#parts.missing(),
      channels_set: this.#parts.config().notify.length,
      sources: countSources(this.#parts.watcher.views()),
      memory_mb: Math.round(process.memoryUsage.rss() / 1024 / 1024),
      agents: this.#parts.watcher.views().filter((view) => view.reading.state !== 'ended').length,
      holds: this.#parts.watcher.views().map(({ agent }) => ({ agent, ...this.#parts.acting.holdOn(agent) })),
    };
  }
}

export function eventDocument(event: WatchEvent) {
  return {
    v: 1,
    at: new Date(event.atMs).toISOString(),
    agent: event.agent,
    source: event.source,
    kind: event.kind,
    data: event.data,
  };
}
