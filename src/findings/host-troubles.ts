import type { Config } from '../config/schema.ts';
import { findingOf, type HostSigns, hostTroubles } from '../detect/host-troubles.ts';
import type { Found, Sighting } from '../model/agent.ts';
import type { Clock } from '../model/world.ts';

/** The daemon sets its own database going again within this; nobody need hear of it. */
const holdTicks = 15;
const holdMsMax = 30_000;

/** The database, the disk and the tmux servers: told when they are away for a while, and only then. */
export function hostHoldMs({ tickSeconds }: Pick<Config, 'tickSeconds'>): number {
  return Math.min(holdMsMax, tickSeconds * 1_000 * holdTicks);
}

/** What is away at this moment, and since when. */
export class HostTroubles {
  readonly #clock: Clock;
  readonly #sinceMs = new Map<string, number>();
  /** The tmux server each agent was last seen in. */
  readonly #places = new Map<string, string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  look(views: readonly Sighting[], signs: HostSigns): Found[] {
    this.#place(views);
    const troubles = hostTroubles(signs, views, this.#places);
    const nameOf = ({ check, subject }: Pick<Found, 'check' | 'subject'>) => `${check}\n${subject ?? ''}`;
    const names = new Set(troubles.map(nameOf));
    for (const name of this.#sinceMs.keys()) if (!names.has(name)) this.#sinceMs.delete(name);
    return troubles.map((trouble) => {
      const sinceMs = this.#sinceMs.get(nameOf(trouble)) ?? this.#clock.nowMs();
      this.#sinceMs.set(nameOf(trouble), sinceMs);
      return findingOf(trouble, sinceMs);
    });
  }

  #place(views: readonly Sighting[]): void {
    for (const { agent, tmux, reading } of views) {
      if (reading.state === 'ended') this.#places.delete(agent);
      else if (tmux !== null) this.#places.set(agent, tmux.socket);
    }
    if (this.#places.size <= views.length) return;
    const names = new Set(views.map(({ agent }) => agent));
    for (const agent of this.#places.keys()) if (!names.has(agent)) this.#places.delete(agent);
  }
}
