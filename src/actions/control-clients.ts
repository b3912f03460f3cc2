import type { Board } from '../findings/board.ts';
import type { Refusal } from '../model/action.ts';
import type { Found, Sighting } from '../model/agent.ts';
import type { PaneFacts } from '../model/delivery.ts';
import type { Clock } from '../model/world.ts';

interface Parts {
  host: string;
  clock: Clock;
  board: Pick<Board, 'post'>;
}

const check = 'control-client';
const againMs = 5_000;

/**
 * Agents that were to be typed to and were not, because a client in control mode has their pane. A person should know why
 * nothing happens; where nothing is to be typed it is nobody's concern. It is over when the client is gone.
 */
export class ControlClients {
  readonly #parts: Parts;
  /** Since when. */
  readonly #held = new Map<string, number>();
  #lookedMs = Number.NEGATIVE_INFINITY;
  #looking = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Whatever was just decided about typing to this agent, and how its pane was then. */
  decided(agent: string, refusal: Refusal | null, pane: PaneFacts | null): void {
    if (refusal === check && !this.#held.has(agent)) this.#held.set(agent, this.#parts.clock.nowMs());
    else if (pane?.controlled !== false || !this.#held.delete(agent)) return;
    this.#post();
  }

  /**
   * Nobody may want to type any more; whether the client is still there is asked all the same. `pane`: an agent's pane as it
   * is now; null: it cannot be asked.
   */
  round(views: readonly Sighting[], pane: (agent: string) => Promise<PaneFacts | null>): void {
    const { clock } = this.#parts;
    if (this.#held.size === 0) return;
    const living = new Set(views.filter(({ reading }) => reading.state !== 'ended').map(({ agent }) => agent));
    for (const agent of this.#held.keys()) if (!living.has(agent)) this.#held.delete(agent);
    this.#post();
    if (this.#looking || clock.monotonicMs() - this.#lookedMs < againMs) return;
    this.#lookedMs = clock.monotonicMs();
    this.#looking = true;
    void this.#lookAgain(pane).finally(() => {
      this.#looking = false;
    });
  }

  async #lookAgain(pane: (agent: string) => Promise<PaneFacts | null>): Promise<void> {
    for (const agent of [...this.#held.keys()]) this.decided(agent, null, await pane(agent));
  }

  #post(): void {
    const { board, host } = this.#parts;
    const about = { host, project: '' };
    board.post(
      'panes',
      [...this.#held].map(([agent, sinceMs]) => ({ ...about, agent, finding: findingSince(sinceMs) })),
    );
  }
}

function findingSince(sinceMs: number): Found {
  const text = 'nothing is typed: a terminal in control mode (tmux -CC) has its pane, where typing cannot be seen';
  const evidence = [{ source: 'watchkeeper' as const, atMs: sinceMs, text }];
  return { check, subject: null, severity: 'warning', confidence: 1, sinceMs, evidence, action: null, slots: null };
}
