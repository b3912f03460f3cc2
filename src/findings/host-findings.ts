import type { Config } from '../config/schema.ts';
import { provenPersistence } from '../detect/hold.ts';
import { findingOf, type HostSigns, hostTroubles } from '../detect/host-troubles.ts';
import { type MassFailure, massFailures } from '../detect/mass-failure.ts';
import type { AgentView, Found } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import { shown } from '../model/text.ts';
import type { Clock } from '../model/world.ts';
import type { Board } from './board.ts';
import { key } from './open-incident.ts';

interface Parts {
  host: string;
  /** As people call it. */
  hostName: string;
  config: () => Config;
  clock: Clock;
  board: Pick<Board, 'post'>;
}

/** The daemon sets its own database going again within this; nobody need hear of it. */
const holdTicks = 15;
const holdMsMax = 30_000;

/** What is wrong with the host as a whole: many agents at once; the database, the disk and the tmux servers. */
export class HostFindings {
  readonly #parts: Parts;
  #failures: MassFailure[] = [];
  /** Since when something is away. */
  readonly #sinceMs = new Map<string, number>();
  /** The tmux server each agent was last seen in. */
  readonly #places = new Map<string, string>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  look(views: readonly AgentView[], signs: HostSigns): void {
    const { config, board, host, hostName } = this.#parts;
    const { judging, tickSeconds } = config();
    const { massCount, massPercent, massMinutes } = judging;
    this.#failures = massFailures(views, { agents: massCount, percent: massPercent, withinMs: massMinutes * 60_000 });
    const troubles = [...this.#failures.map(({ finding }) => finding), ...this.#away(views, signs)];
    const whileAway = { readings: 1, forMs: Math.min(holdMsMax, tickSeconds * 1_000 * holdTicks), keepMs: 0 };
    board.post(
      'host',
      troubles.map((finding) => ({ host, agent: null, project: shown(hostName, 50), finding })),
      (check) => (check === 'mass-failure' ? provenPersistence : whileAway),
    );
  }

  /** The trouble of the host that this one of this agent is part of, and that is told instead; null: none. */
  covers(agent: string, check: CheckName): string | null {
    const failure = this.#failures.find(
      (one) =>
        one.agents.includes(agent) && (one.check === check || (one.check === 'auth-failed' && check === 'silent-stop')),
    );
    return failure?.finding.subject ?? null;
  }

  #away(views: readonly AgentView[], signs: HostSigns): Found[] {
    this.#place(views);
    const troubles = hostTroubles(signs, views, this.#places).map((one) => ({
      ...one,
      name: key({ agent: null, ...one }),
    }));
    for (const name of this.#sinceMs.keys()) if (!troubles.some((one) => one.name === name)) this.#sinceMs.delete(name);
    return troubles.map((trouble) => {
      const sinceMs = this.#sinceMs.get(trouble.name) ?? this.#parts.clock.nowMs();
      this.#sinceMs.set(trouble.name, sinceMs);
      return findingOf(trouble, sinceMs);
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
