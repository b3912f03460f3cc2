import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Channel, openChannel } from '../act/notify/channel.ts';
import type { HumanMessage } from '../act/notify/message.ts';
import type { Config } from '../config/schema.ts';
import { messageFor } from '../decide/message.ts';
import type { Action } from '../model/action.ts';
import type { AgentView } from '../model/agent.ts';
import type { Incident } from '../model/incident.ts';
import { keepNewest } from '../model/keep-newest.ts';
import type { Store } from '../model/store.ts';
import { shown } from '../model/text.ts';
import type { Clock } from '../model/world.ts';

export interface ChannelHealth {
  name: string;
  ok: boolean;
  reason: string | null;
}

interface TellerParts {
  host: string;
  hostName: string;
  store: Store;
  clock: Clock;
  environment: NodeJS.ProcessEnv;
  config: () => Config;
  flush: () => Promise<boolean>;
  notice: (line: string) => void;
}

const hadMax = 1_000;
const flushMs = 3_000;

/** Tells people, through every channel of the configuration; what failed is tried again by whoever asked. */
export class Teller {
  readonly #parts: TellerParts;
  readonly #health = new Map<string, ChannelHealth>();
  /** Channels that have had the present message of an incident, so that a second try spares them; not all incidents are told in the end. */
  readonly #had = new Map<string, Set<string>>();
  /** Incidents that people were told of with nothing to write it down in. */
  readonly #bare = new Map<string, true>();

  constructor(parts: TellerParts) {
    this.#parts = parts;
  }

  get channels(): ChannelHealth[] {
    return [...this.#health.values()];
  }

  /** true: everyone was told. At least once, also across restarts: not remembered as told before it was. */
  async tell(incident: Incident, view: AgentView | null): Promise<boolean> {
    const message = this.#message(incident, view);
    const had = this.#had.get(incident.id) ?? new Set<string>();
    const channels = this.#channels().filter((channel) => !had.has(channel.name));
    const action: Action = {
      id: randomUUID(),
      atMs: this.#parts.clock.nowMs(),
      agent: incident.agent,
      kind: 'notify',
      trigger: `rule:${incident.check}`,
      intent: {
        title: message.title,
        text: message.text,
        event: message.event,
        channels: channels.map((channel) => channel.name),
      },
      finding: incident.id,
    };
    // A database that hangs keeps nobody from being told.
    await Promise.race([this.#parts.flush(), sleep(flushMs, false, { ref: false })]);
    const intended = await this.#parts.store.intend(this.#parts.host, action);
    // Neither the ledger nor a file takes it: people are told all the same, once.
    if (!intended.ok && this.#bare.has(incident.id)) return false;
    // Whoever looks on is told too, and not again at every try of a channel that fails.
    if (!this.#had.has(incident.id))
      this.#parts.notice(`${message.title}: ${message.text} \`watchkeeper inbox\` says what to do`);
    keepNewest(this.#had, incident.id, had, hadMax);
    const failures = await this.#send(channels, message, had);
    await this.#parts.store.conclude({
      actionId: action.id,
      atMs: this.#parts.clock.nowMs(),
      outcome: failures.length === 0 ? 'told' : 'failed',
      reason:
        failures.length > 0 ? shown(failures.join('; '), 500) : this.#channels().length === 0 ? 'inbox-only' : null,
      proof: null,
    });
    if (failures.length > 0) return false;
    this.#had.delete(incident.id);
    if (!intended.ok) keepNewest(this.#bare, incident.id, true, hadMax);
    return true;
  }

  async #send(channels: Channel[], message: HumanMessage, had: Set<string>): Promise<string[]> {
    const failures: string[] = [];
    await Promise.all(
      channels.map(async (channel) => {
        const sent = await channel.send(message);
        this.#health.set(channel.name, { name: channel.name, ok: sent.ok, reason: sent.ok ? null : sent.reason });
        if (sent.ok) had.add(channel.name);
        else failures.push(`${channel.name}: ${sent.reason}`);
      }),
    );
    return failures;
  }

  #channels(): Channel[] {
    return this.#parts.config().notify.map((entry) => openChannel(entry, this.#parts.environment));
  }

  #message(incident: Incident, view: AgentView | null): HumanMessage {
    const { title, text, whatToDo, attach } = messageFor(incident, view);
    return {
      v: 1,
      id: incident.id,
      agent: incident.agent,
      project: view?.project ?? incident.project,
      host: this.#parts.hostName,
      check: incident.check,
      subject: incident.subject === null ? null : shown(incident.subject, 200),
      severity: incident.severity,
      event: incident.tells === 0 ? 'opened' : 'repeated',
      since: new Date(incident.openedMs).toISOString(),
      title: shown(title, 200),
      text: shown(text, 2_000),
      what_to_do: whatToDo,
      attach,
    };
  }
}
