import type { Config } from '../config/schema.ts';
import { provenHold } from '../detect/hold.ts';
import type { HostSigns } from '../detect/host-troubles.ts';
import { type MassFailure, massFailures } from '../detect/mass-failure.ts';
import type { AgentView } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import { shown } from '../model/text.ts';
import type { Clock } from '../model/world.ts';
import type { Board } from './board.ts';
import { HostTroubles, hostHoldMs } from './host-troubles.ts';

interface Parts {
  /** As people call it. */
  hostName: string;
  config: () => Config;
  clock: Clock;
  board: Pick<Board, 'post'>;
}

/** What is wrong with the host as a whole. */
export class HostFindings {
  readonly #parts: Parts;
  readonly #hostTroubles: HostTroubles;
  #failures: MassFailure[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#hostTroubles = new HostTroubles(parts.clock);
  }

  look(views: readonly AgentView[], signs: HostSigns): void {
    const { config, board, hostName } = this.#parts;
    const { massCount, massPercent, massMinutes } = config().judging;
    this.#failures = massFailures(views, { agents: massCount, percent: massPercent, withinMs: massMinutes * 60_000 });
    const troubles = [...this.#failures.map(({ finding }) => finding), ...this.#hostTroubles.look(views, signs)];
    const away = { readings: 1, forMs: hostHoldMs(config()), keepMs: 0 };
    board.post(
      'host',
      troubles.map((finding) => ({ agent: null, project: shown(hostName, 50), finding })),
      (check) => (check === 'mass-failure' ? provenHold : away),
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
}
