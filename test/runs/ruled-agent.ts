// One agent in trouble, and the rules: what they decide, what is done to the agent, and what people are told.

import { fullBand, highBand } from '../../src/detect/checks/context-high.ts';
import { Keeper } from '../../src/findings/keeper.ts';
import { Scores } from '../../src/findings/scores.ts';
import { Spoken } from '../../src/findings/spoken.ts';
import type { AgentView, Finding } from '../../src/model/agent.ts';
import type { CheckName } from '../../src/model/check.ts';
import type { Incident } from '../../src/model/incident.ts';
import { ok } from '../../src/model/result.ts';
import { agentView } from './agent-view.ts';
import { Ledger, TypedAgent } from './typed-agent.ts';

export class RuledAgent extends TypedAgent {
  /** What is wrong with it. */
  checks: CheckName[] = [];
  readonly told: string[] = [];
  readonly incidents: Incident[] = [];
  readonly #keeper: Keeper;

  constructor() {
    super(new Ledger(), { notice: (line) => void this.told.push(line) });
    const clock = { nowMs: () => this.nowMs, monotonicMs: () => this.nowMs };
    const store = {
      ...this.ledger.store,
      openIncidents: async () => ok([]),
      recentScores: async () => ok([]),
      deedsAbout: async () => ok(new Map()),
      saveIncident: async (_host: string, incident: Incident) => {
        if (!this.incidents.some(({ id }) => id === incident.id)) this.incidents.push(incident);
        return ok(undefined);
      },
      saveScore: async () => ok(undefined),
      noteAction: async () => ok(undefined),
    };
    const parts = {
      host: 'h',
      clock,
      store: store as never,
      config: () => this.config,
    };
    this.#keeper = new Keeper({
      ...parts,
      paused: () => this.isPaused,
      views: () => [this.view()],
      actions: this.actions,
      spoken: new Spoken(parts),
      isOneOfMany: () => null,
      hold: () => 'ours',
      isElsewhere: () => false,
      isReadUp: () => true,
      isHandedOver: () => false,
      scores: new Scores({ promptedBy: () => null, interruptedByUs: () => false, spawnStatus: () => null }),
      recordCheck: () => {},
      failed: (error) => {
        throw error;
      },
    });
  }

  view(): AgentView {
    const { authority, session: sessionId } = this;
    const index = this.checks.includes('context-high') ? highBand : fullBand;
    const more = { authority, sessionId, lastTurn: 'failed', band: { index, sinceMs: 0 } } as const;
    const seen = agentView(this.state, this.detail, 5, more);
    const findings = this.checks.map((check): Finding => {
      const evidence = [{ source: 'transcript' as const, atMs: this.nowMs, text: 'so it is' }];
      const id = this.#keeper.idFor('a-ps', check, null);
      const about = { id, check, subject: null, severity: 'warning', confidence: 0.9 } as const;
      return {
        ...about,
        standing: 'seen',
        sinceMs: this.nowMs,
        evidence,
        action: null,
        slots: check === 'context-high' ? { percent: 80 } : null,
      };
    });
    return { ...seen, reading: { ...seen.reading, seenAtMs: this.nowMs }, findings };
  }

  /** Looks for so many minutes, now and then. */
  async pass(minutes: number): Promise<void> {
    const endMs = this.nowMs + minutes * 60_000;
    for (; this.nowMs < endMs; this.nowMs += 20_000) {
      this.#keeper.round([this.view()], []);
      await this.#keeper.settled();
    }
  }

  /** What the ledger says was meant, in the order of its rows. */
  get meant(): string[] {
    return this.ledger.actions.map(({ kind, trigger, intent }) => `${kind} ${trigger}: ${intent.text}`);
  }

  /** What the rules would do next, and why they do not. */
  get next(): string[] {
    return this.#keeper.incidents().map(({ incident, step }) => {
      const what = step.do === 'wait' ? `${step.for}, ${step.reason}` : step.do;
      return `${incident.check}: ${what}`;
    });
  }
}
