import { isProgressDue, type RunningSpawns } from '../decide/progress.ts';
import { fillTemplate } from '../decide/templates.ts';
import type { AgentView } from '../model/agent.ts';
import type { Clock } from '../model/world.ts';
import type { Config } from './config/schema.ts';
import type { Keeper } from './keeper.ts';
import type { Prompter } from './prompter.ts';

interface ProgressParts {
  clock: Clock;
  config: () => Config;
  prompter: Prompter;
  keeper: Keeper;
  progress: (agent: string) => RunningSpawns | null;
  isHandedOver: (agent: string) => boolean;
  failed: (error: unknown) => void;
}

/** A refusal is tried again soon, but not at every tick. */
const retryMs = 30_000;

/** Asks agents at regular times how their background work is getting on. */
export class Progress {
  readonly #parts: ProgressParts;
  /** Counted anew by every run: one that was just asked is not asked again because of a restart. */
  #startedMs: number;
  readonly #asked = new Map<string, number>();
  readonly #retryAtMs = new Map<string, number>();
  readonly #running = new Set<Promise<void>>();

  /** A prompt to them is under way, however long that takes: a second one would only queue behind it. */
  readonly #asking = new Set<string>();

  constructor(parts: ProgressParts) {
    this.#parts = parts;
    this.#startedMs = parts.clock.nowMs();
  }

  /** The wall clock was set, or the machine slept. */
  clockSet(byMs: number): void {
    this.#startedMs += byMs;
    for (const times of [this.#asked, this.#retryAtMs])
      for (const [agent, atMs] of times) times.set(agent, atMs + byMs);
  }

  round(views: AgentView[]): void {
    const nowMs = this.#parts.clock.nowMs();
    const { spawn, prompt } = this.#parts.config();
    const there = new Set(views.map(({ agent }) => agent));
    for (const asked of [this.#asked, this.#retryAtMs])
      for (const agent of asked.keys()) if (!there.has(agent)) asked.delete(agent);
    for (const view of views) {
      if (this.#asking.has(view.agent) || this.#parts.isHandedOver(view.agent)) continue;
      if (nowMs < (this.#retryAtMs.get(view.agent) ?? 0)) continue;
      const due = isProgressDue(view, {
        nowMs,
        mode: spawn.progress,
        everyMs: spawn.progressMinutes * 60_000,
        minIntervalMs: prompt.minIntervalMinutes * 60_000,
        running: this.#parts.progress(view.agent),
        lastAskMs: this.#asked.get(view.agent) ?? this.#startedMs,
        lastAgentPromptMs: this.#parts.keeper.lastPrompt(view.agent),
      });
      if (due) this.#begin(view, nowMs);
    }
  }

  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  #begin(view: AgentView, nowMs: number): void {
    this.#retryAtMs.set(view.agent, nowMs + retryMs);
    this.#asking.add(view.agent);
    const work = this.#ask(view)
      .catch(this.#parts.failed)
      .finally(() => {
        this.#asking.delete(view.agent);
        this.#running.delete(work);
      });
    this.#running.add(work);
  }

  async #ask(view: AgentView): Promise<void> {
    const filled = fillTemplate('spawn-update', {}, this.#parts.config().templates);
    if (!filled.ok) return;
    const result = await this.#parts.prompter.prompt({
      agent: view.agent,
      text: filled.text,
      trigger: 'rule:spawn-progress',
      finding: null,
      waitMs: 0,
    });
    if (result.outcome === 'refused') return;
    const nowMs = this.#parts.clock.nowMs();
    this.#retryAtMs.delete(view.agent);
    this.#asked.set(view.agent, nowMs);
    this.#parts.keeper.notePrompt(view, nowMs);
  }
}
