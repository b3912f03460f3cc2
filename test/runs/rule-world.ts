// Rules that speak to a made-up agent, and the rows that outlive a daemon that is killed at any one of them.

import { defaultConfig } from '../../src/config/schema.ts';
import type { Board } from '../../src/findings/board.ts';
import type { Action, ActionOutcome } from '../../src/model/action.ts';
import type { AgentView, Finding, Sighting, State } from '../../src/model/agent.ts';
import type { CheckName } from '../../src/model/check.ts';
import type { Deeds } from '../../src/model/deeds.ts';
import type { Incident } from '../../src/model/incident.ts';
import { ok } from '../../src/model/result.ts';
import type { Store } from '../../src/model/store.ts';
import { Keeper } from '../../src/rules/keeper.ts';
import { WorkProgress } from '../../src/rules/progress.ts';
import { Scores } from '../../src/rules/scores.ts';
import { Spoken } from '../../src/rules/spoken.ts';
import { agentView, viewNowMs } from './agent-view.ts';
import { madeActions } from './made-actions.ts';
import { found, madeBoard, see } from './made-board.ts';

const config = defaultConfig();

interface Typed {
  atMs: number;
  text: string;
  /** Of the incidents the ledger had for it in that moment. */
  findings: string[];
}

/** One agent whose troubles never end, whatever is said to it; `killAt`: the step at which the daemon is killed. */
export class RuleWorld {
  nowMs = viewNowMs;
  /** Its record was read to the end. */
  isReadUp = true;
  /** What arrived at the model. */
  readonly typed: Typed[] = [];
  readonly actions: Action[] = [];
  readonly outcomes: ActionOutcome[] = [];
  readonly incidents = new Map<string, Incident>();
  view: AgentView;
  readonly #troubles: { check: CheckName; subject: string | null; slots: Finding['slots'] }[] = [];
  readonly #hasHiddenWork: boolean;
  readonly #killAt: number;
  #steps = 0;
  #run = 0;
  #board!: Board;
  #keeper!: Keeper;
  #progress!: WorkProgress;

  constructor(view: Partial<AgentView>, given: { killAt?: number; hasHiddenWork?: boolean } = {}) {
    this.view = agentView('idle', null, 1, view);
    this.#killAt = given.killAt ?? Number.POSITIVE_INFINITY;
    this.#hasHiddenWork = given.hasHiddenWork ?? false;
  }

  trouble(check: CheckName, subject: string | null = null, slots: Finding['slots'] = null): this {
    this.#troubles.push({ check, subject, slots });
    return this;
  }

  in(state: State): this {
    this.view = { ...this.view, reading: { ...this.view.reading, state } };
    return this;
  }

  /** When a human was told, by the ledger. */
  get told(): number[] {
    return this.outcomes.filter(({ outcome }) => outcome === 'told').map(({ atMs }) => atMs);
  }

  get isKilled(): boolean {
    return this.#steps >= this.#killAt;
  }

  async start(): Promise<void> {
    this.#run += 1;
    const run = this.#run;
    const clock = { nowMs: () => this.nowMs, monotonicMs: () => this.nowMs };
    const parts = { host: 'h', clock, config: () => config, store: this.#store(run) };
    this.#board = madeBoard(parts);
    const base = { ...parts, board: this.#board };
    const failed = (error: unknown) => {
      throw error;
    };
    const agent = () => ({ view: this.#seen() }) as never;
    const actions = madeActions({ ...base, agent, typist: this.#typist(run) });
    const spoken = new Spoken(base);
    const asked = { quietUntilMs: () => null, isHandedOver: () => false, isReadUp: () => this.isReadUp };
    this.#keeper = new Keeper({
      ...base,
      paused: () => false,
      actions,
      spoken,
      isOneOfMany: () => null,
      hold: () => 'ours',
      isElsewhere: () => false,
      ...asked,
      scores: new Scores({ promptedBy: () => null, interruptedByUs: () => false, spawnStatus: () => null }),
      failed,
    });
    const progress = () => (this.#hasHiddenWork ? { sinceMs: viewNowMs - 3_600_000, hidden: true } : null);
    this.#progress = new WorkProgress({ ...base, configFor: base.config, actions, spoken, progress, ...asked, failed });
    if (!(await spoken.restore()) || !(await this.#board.restore())) throw new Error('nothing to start from');
  }

  /** Ticks for so long; killed on the way, it is started anew 0.6 s later. */
  async pass(ms: number): Promise<void> {
    const endMs = this.nowMs + ms;
    while (this.nowMs < endMs) {
      const wasKilled = this.isKilled;
      this.#look();
      this.#keeper.round();
      this.#progress.round(this.#board.views());
      await settle();
      if (this.isKilled && !wasKilled) {
        this.nowMs += 600;
        await this.start();
      } else this.nowMs += 2_000;
    }
  }

  #look(): void {
    const evidence = [{ source: 'transcript' as const, atMs: viewNowMs, text: 'a 529' }];
    const findings = this.#troubles.map(({ check, ...more }) => found(check, { ...more, evidence }));
    see(this.#board, [{ view: this.#seen(), findings }]);
  }

  #seen(): Sighting {
    return { ...this.view, reading: { ...this.view.reading, seenAtMs: this.nowMs } };
  }

  /** Nothing that a killed daemon waits for ever comes back. */
  async #step(run: number): Promise<void> {
    if (run === this.#run) this.#steps += 1;
    const isOver = run !== this.#run || (this.isKilled && run === 1);
    if (isOver) await new Promise(() => {});
  }

  /** A row is a step before it is committed and one after. */
  async #commit<T>(run: number, work: () => T) {
    await this.#step(run);
    const value = work();
    await this.#step(run);
    return ok(value);
  }

  #store(run: number): Store {
    const commit = <T>(work: () => T) => this.#commit(run, work);
    const store: Partial<Store> = {
      openIncidents: async () =>
        ok([...this.incidents.values()].filter(({ closedMs }) => closedMs === null).map((each) => ({ ...each }))),
      recentScores: async () => ok([]),
      deedsAbout: async (findings) => ok(new Map(findings.map((id) => [id, this.#deeds(id)]))),
      lastRulePrompts: async () =>
        ok(
          this.#prompts().map(({ trigger, atMs }) => ({
            ...{ host: 'h', agent: this.view.agent, project: this.view.project, atMs },
            trigger: trigger as `rule:${string}`,
          })),
        ),
      // Slower than any other row.
      saveIncident: async (incident) => {
        await settle(3);
        return commit(() => void this.incidents.set(incident.id, { ...incident }));
      },
      saveScore: async () => ok(undefined),
      intend: (action) => commit(() => void this.actions.push(action)),
      conclude: (outcome) => commit(() => void this.outcomes.push(outcome)),
    };
    return store as Store;
  }

  /** As the ledger's own query counts them. */
  #deeds(finding: string): Deeds {
    const mine = (action: Action) => findingsOf(action).includes(finding);
    const prompts = this.#prompts().filter(mine);
    const told = this.actions.filter((action) => action.kind === 'notify' && mine(action) && this.#has(action, 'told'));
    const last = (actions: Action[]) => actions.at(-1)?.atMs ?? null;
    const counts = { prompts: prompts.length, lastPromptMs: last(prompts), tells: told.length, lastTellMs: last(told) };
    const isProved = prompts.some((action) => this.#has(action, 'confirmed'));
    return { ...counts, isProved, leftovers: [] };
  }

  #prompts(): Action[] {
    return this.actions.filter((action) => action.kind === 'prompt' && !this.#has(action, 'refused'));
  }

  #has({ id }: Action, outcome: string): boolean {
    return this.outcomes.some((each) => each.actionId === id && each.outcome === outcome);
  }

  #typist(run: number) {
    return {
      against: async () => [],
      hasShellBeneath: () => false,
      type: async (_by: unknown, { text }: { text: string }) => {
        for (const _command of ['load-buffer', 'paste-buffer']) await this.#step(run);
        const action = this.actions.at(-1);
        this.typed.push({ atMs: this.nowMs, text, findings: action === undefined ? [] : findingsOf(action) });
        await this.#step(run);
        const proof = { queued: false, source: 'hook', nameless: false, atMs: this.nowMs };
        return { outcome: 'confirmed', reason: null, proof, proofMs: 1, draftRestored: null };
      },
    };
  }
}

function findingsOf({ finding, intent }: Action): string[] {
  return (intent.findings as string[] | undefined) ?? (finding === null ? [] : [finding]);
}

/** Until everything that can go on has gone on. */
async function settle(times = 15): Promise<void> {
  for (let n = 0; n < times; n += 1) await new Promise((resolve) => setImmediate(resolve));
}
