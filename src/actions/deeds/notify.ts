import { type Channel, openChannel } from '../../act/notify/channel.ts';
import type { HumanMessage } from '../../act/notify/message.ts';
import { messageFor } from '../../decide/message.ts';
import type { Action } from '../../model/action.ts';
import type { Sighting } from '../../model/agent.ts';
import type { Incident } from '../../model/incident.ts';
import { keepNewest } from '../../model/keep-newest.ts';
import { shown } from '../../model/text.ts';
import type { Deed, DeedWorld, Doing, Done, Order } from './deed.ts';

declare module '../../model/action.ts' {
  interface DeedNames {
    notify: true;
  }
}

export interface ChannelHealth {
  name: string;
  ok: boolean;
  reason: string | null;
}

interface NotifyOrder extends Order {
  incident: Incident;
  view: Sighting | null;
  /** Since when it is so. */
  sinceMs: number;
}

export function notifyOrder(incident: Incident, view: Sighting | null, sinceMs: number): NotifyOrder {
  const { host, agent, check, id } = incident;
  return { host, agent, trigger: `rule:${check}`, by: 'rule', finding: id, incident, view, sinceMs };
}

const hadMax = 1_000;

/**
 * People are told, through every channel of the configuration. At least once, also across restarts: what nobody knows to
 * have been told is told again, by whoever asked.
 */
export class Notify implements Deed<NotifyOrder, 'told' | 'failed', string> {
  readonly needs = 'observe';
  readonly points = ['sent'];
  readonly isRefusedQuietly = true;
  readonly #world: DeedWorld;
  readonly #health = new Map<string, ChannelHealth>();
  /** Channels that have had the present message of an incident, so that a second try spares them; not all incidents are told in the end. */
  readonly #had = new Map<string, { names: Set<string>; event: HumanMessage['event'] }>();
  /** Incidents that people were told of with nothing to write it down in. */
  readonly #bare = new Map<string, true>();

  constructor(world: DeedWorld) {
    this.#world = world;
  }

  get channels(): ChannelHealth[] {
    return [...this.#health.values()];
  }

  intent(order: NotifyOrder) {
    const { title, text, event } = this.#message(order);
    return { title, text, event, channels: this.#left(order.incident).map(({ name }) => name) };
  }

  /** Neither the ledger nor a file takes it: people are told all the same, once. */
  isDoneWithoutRow({ incident }: NotifyOrder): boolean {
    return !this.#bare.has(incident.id);
  }

  async do(order: NotifyOrder, _action: Action, doing: Doing): Promise<Done<'told' | 'failed', string>> {
    const { id } = order.incident;
    const message = this.#message(order);
    const channels = this.#left(order.incident);
    // Whoever looks on is told too, and not again at every try of a channel that fails.
    if (!this.#had.has(id))
      this.#world.notice(`${message.title}: ${message.text} \`watchkeeper inbox\` says what to do`);
    const { names } = this.#had.get(id) ?? { names: new Set<string>() };
    keepNewest(this.#had, id, { names, event: message.event }, hadMax);
    const failures = await this.#send(channels, message, names);
    await doing.at('sent');
    const none = { proof: null, proofMs: null };
    if (failures.length > 0) {
      const reached = names.size === 0 ? [] : [`reached: ${[...names].join(', ')}`];
      return { outcome: 'failed', reason: shown([...reached, ...failures].join('; '), 500), ...none };
    }
    this.#had.delete(id);
    if (!doing.hasRow) keepNewest(this.#bare, id, true, hadMax);
    return { outcome: 'told', reason: this.#world.config().notify.length === 0 ? 'inbox-only' : null, ...none };
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

  /** Those that have not had it yet. */
  #left({ id }: Incident): Channel[] {
    const { config, environment } = this.#world;
    const had = this.#had.get(id);
    return config()
      .notify.map((entry) => openChannel(entry, environment))
      .filter(({ name }) => had?.names.has(name) !== true);
  }

  /** Somebody has had the present message of it, though not through every channel. */
  hasReached({ id }: Incident): boolean {
    return (this.#had.get(id)?.names.size ?? 0) > 0;
  }

  #message({ incident, view, sinceMs }: NotifyOrder): HumanMessage {
    const { clock, environment } = this.#world;
    const facts = { sinceMs, nowMs: clock.nowMs(), home: environment.HOME ?? null };
    const { title, text, whatToDo, attach } = messageFor(incident, view, facts);
    return {
      v: 1,
      id: incident.id,
      agent: incident.agent,
      project: view?.project ?? incident.project,
      host: this.#world.hostName,
      check: incident.check,
      subject: incident.subject === null ? null : shown(incident.subject, 200),
      severity: incident.severity,
      event: this.#had.get(incident.id)?.event ?? (incident.tells === 0 ? 'opened' : 'repeated'),
      since: new Date(sinceMs).toISOString(),
      title: shown(title, 200),
      text: shown(text, 2_000),
      what_to_do: whatToDo,
      attach,
    };
  }
}
