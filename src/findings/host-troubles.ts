import type { Config } from '../config/schema.ts';
import { findingOf, type HostSigns, hostTroubles } from '../detect/host-troubles.ts';
import type { AgentView, Finding } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import type { Clock } from '../model/world.ts';

interface Parts {
  clock: Clock;
  config: () => Config;
  /** Its incident is open, be it from an earlier run: nothing has to be waited for. */
  isOpen: (check: CheckName, subject: string | null) => boolean;
}

/** The daemon sets its own database going again within this; nobody need hear of it. */
const holdTicks = 15;
const holdMsMax = 30_000;

/** The database, the disk and the tmux servers: told when they are away for a while, and only then. */
export class HostTroubles {
  readonly #parts: Parts;
  readonly #since = new Map<string, { nowMs: number; monotonicMs: number }>();
  /** The tmux server each agent was last seen in. */
  readonly #places = new Map<string, string>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  look(views: readonly AgentView[], signs: HostSigns): Omit<Finding, 'id'>[] {
    const { clock, config, isOpen } = this.#parts;
    this.#place(views);
    const troubles = hostTroubles(signs, views, this.#places);
    const nameOf = ({ check, subject }: { check: CheckName; subject: string | null }) => `${check}\n${subject ?? ''}`;
    const names = new Set(troubles.map(nameOf));
    for (const name of this.#since.keys()) if (!names.has(name)) this.#since.delete(name);
    const holdMs = Math.min(holdMsMax, config().tickSeconds * 1_000 * holdTicks);
    return troubles.flatMap((trouble) => {
      const since = this.#since.get(nameOf(trouble)) ?? { nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
      this.#since.set(nameOf(trouble), since);
      const isHeld = clock.monotonicMs() - since.monotonicMs >= holdMs || isOpen(trouble.check, trouble.subject);
      return isHeld ? [findingOf(trouble, since.nowMs)] : [];
    });
  }

  #place(views: readonly AgentView[]): void {
    for (const { agent, tmux, reading } of views) {
      if (reading.state === 'ended') this.#places.delete(agent);
      else if (tmux !== null) this.#places.set(agent, tmux.socket);
    }
    if (this.#places.size <= views.length) return;
    const names = new Set(views.map(({ agent }) => agent));
    for (const agent of this.#places.keys()) if (!names.has(agent)) this.#places.delete(agent);
  }
}
