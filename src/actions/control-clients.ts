import type { Refusal } from '../model/action.ts';
import type { AgentView, Finding } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import type { PaneFacts } from '../model/delivery.ts';
import type { Clock } from '../model/world.ts';

interface Parts {
  clock: Clock;
  idFor: (agent: string, check: CheckName, subject: string | null) => string;
  /** The agent's pane as it is now; null: it cannot be asked. */
  pane: (agent: string) => Promise<PaneFacts | null>;
}

const check = 'control-client';
const againMs = 5_000;

/**
 * Agents that were to be typed to and were not, because a client in control mode has their pane. A person should know why
 * nothing happens; where nothing is to be typed it is nobody's concern. It is over when the client is gone.
 */
export class ControlClients {
  readonly #parts: Parts;
  readonly #held = new Map<string, number>();
  #lookedMs = Number.NEGATIVE_INFINITY;
  #looking = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Whatever was just decided about typing to this agent, and how its pane was then. */
  decided(agent: string, refusal: Refusal | null, pane: PaneFacts | null): void {
    if (refusal === check && !this.#held.has(agent)) this.#held.set(agent, this.#parts.clock.nowMs());
    else if (pane?.controlled === false) this.#held.delete(agent);
  }

  overlay(views: AgentView[]): AgentView[] {
    if (this.#held.size === 0) return views;
    return views.map((view) => {
      const sinceMs = this.#held.get(view.agent);
      const isOver = sinceMs === undefined || view.reading.state === 'ended';
      return isOver ? view : { ...view, findings: [...view.findings, this.#finding(view.agent, sinceMs)] };
    });
  }

  /** Nobody may want to type any more; whether the client is still there is asked all the same. */
  round(views: readonly AgentView[]): void {
    const { clock } = this.#parts;
    if (this.#held.size === 0 || this.#looking || clock.monotonicMs() - this.#lookedMs < againMs) return;
    this.#lookedMs = clock.monotonicMs();
    this.#looking = true;
    const living = new Set(views.filter(({ reading }) => reading.state !== 'ended').map(({ agent }) => agent));
    void this.#lookAgain(living).finally(() => {
      this.#looking = false;
    });
  }

  async #lookAgain(living: ReadonlySet<string>): Promise<void> {
    for (const agent of [...this.#held.keys()]) {
      if (living.has(agent)) this.decided(agent, null, await this.#parts.pane(agent));
      else this.#held.delete(agent);
    }
  }

  #finding(agent: string, sinceMs: number): Finding {
    const text = 'nothing is typed: a terminal in control mode (tmux -CC) has its pane, where typing cannot be seen';
    return {
      id: this.#parts.idFor(agent, check, null),
      check,
      subject: null,
      standing: 'seen',
      severity: 'warning',
      confidence: 1,
      sinceMs,
      evidence: [{ source: 'watchkeeper', atMs: sinceMs, text }],
      action: null,
      slots: null,
    };
  }
}
