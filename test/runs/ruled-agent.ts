// One agent in trouble, and the rules: what they decide, what is done to the agent, and what people are told.

import { fullBand, highBand } from '../../src/detect/checks/context-high.ts';
import type { Board } from '../../src/findings/board.ts';
import type { Sighting } from '../../src/model/agent.ts';
import type { CheckName } from '../../src/model/check.ts';
import type { Incident } from '../../src/model/incident.ts';
import { ok } from '../../src/model/result.ts';
import { Keeper } from '../../src/rules/keeper.ts';
import { Scores } from '../../src/rules/scores.ts';
import { Spoken } from '../../src/rules/spoken.ts';
import { agentView } from './agent-view.ts';
import { emptyStore, found, madeBoard, see } from './made-board.ts';
import { Ledger, TypedAgent } from './typed-agent.ts';

export class RuledAgent extends TypedAgent {
  /** What is wrong with it. */
  checks: CheckName[] = [];
  readonly told: string[] = [];
  readonly incidents: Incident[] = [];
  readonly #board: Board;
  readonly #keeper: Keeper;

  constructor() {
    super(new Ledger(), { notice: (line) => void this.told.push(line) });
    const clock = { nowMs: () => this.nowMs, monotonicMs: () => this.nowMs };
    const store = {
      ...this.ledger.store,
      ...emptyStore,
      saveIncident: async (incident: Incident) => {
        if (!this.incidents.some(({ id }) => id === incident.id)) this.incidents.push(incident);
        return ok(undefined);
      },
      saveScore: async () => ok(undefined),
    };
    const parts = {
      host: 'h',
      clock,
      store: store as never,
      config: () => this.config,
    };
    this.#board = madeBoard(parts);
    this.#keeper = new Keeper({
      ...parts,
      board: this.#board,
      paused: () => this.isPaused,
      quietUntilMs: () => this.quietUntilMs,
      actions: this.actions,
      spoken: new Spoken(parts),
      isOneOfMany: () => null,
      hold: () => 'ours',
      isElsewhere: () => false,
      isReadUp: () => true,
      isHandedOver: () => false,
      scores: new Scores({ promptedBy: () => null, interruptedByUs: () => false, spawnStatus: () => null }),
      failed: (error) => {
        throw error;
      },
    });
  }

  view(): Sighting {
    const { authority, session: sessionId } = this;
    const index = this.checks.includes('context-high') ? highBand : fullBand;
    const more = { authority, sessionId, lastTurn: 'failed', band: { index, sinceMs: 0 } } as const;
    const seen = agentView(this.state, this.detail, 5, more);
    return { ...seen, reading: { ...seen.reading, seenAtMs: this.nowMs } };
  }

  /** Looks for so many minutes, now and then. */
  async pass(minutes: number): Promise<void> {
    const endMs = this.nowMs + minutes * 60_000;
    for (; this.nowMs < endMs; this.nowMs += 20_000) {
      const slots = (check: CheckName) => (check === 'context-high' ? { percent: 80 } : null);
      const findings = this.checks.map((check) => found(check, { sinceMs: this.nowMs, slots: slots(check) }));
      see(this.#board, [{ view: this.view(), findings }]);
      this.#keeper.round();
      await this.#keeper.settled();
    }
  }

  /** What the ledger says was meant, in the order of its rows. */
  get meant(): string[] {
    return this.ledger.actions.map(({ kind, trigger, intent }) => `${kind} ${trigger}: ${intent.text}`);
  }

  /** What the rules would do next, and why they do not. */
  get next(): string[] {
    return this.#board.open().map(({ incident, step }) => {
      const what = step.do === 'wait' ? `${step.for}, ${step.reason}` : step.do;
      return `${incident.check}: ${what}`;
    });
  }
}
