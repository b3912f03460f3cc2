import type { Actions } from '../actions/actions.ts';
import type { Config } from '../config/schema.ts';
import { isProgressDue, type RunningSpawns } from '../decide/progress.ts';
import { fillTemplate } from '../decide/templates.ts';
import type { AgentView } from '../model/agent.ts';
import { Running } from '../model/running.ts';
import type { Clock } from '../model/world.ts';
import { progressTrigger, type Spoken } from './spoken.ts';

interface ProgressParts {
  clock: Clock;
  config: () => Config;
  configFor: (agent: string) => Config;
  actions: Pick<Actions, 'prompt'>;
  spoken: Spoken;
  progress: (agent: string) => RunningSpawns | null;
  /** Until when rules do nothing; null: they may. */
  quietUntilMs: () => number | null;
  isHandedOver: (agent: string) => boolean;
  isReadUp: (agent: string) => boolean;
  failed: (error: unknown) => void;
}

/** A refusal is tried again soon, but not at every tick. */
const retryMs = 30_000;

/** Asks agents at regular times how their background work is getting on. */
export class WorkProgress {
  readonly #parts: ProgressParts;
  /** One that was never asked is not asked at once because somebody begins to look. */
  #startedMs: number;
  readonly #retryAtMs = new Map<string, number>();
  readonly #running: Running;

  constructor(parts: ProgressParts) {
    this.#parts = parts;
    this.#startedMs = parts.clock.nowMs();
    this.#running = new Running(parts.failed);
  }

  /** The wall clock was set, or the machine slept. */
  clockSet(byMs: number): void {
    this.#startedMs += byMs;
    for (const [agent, atMs] of this.#retryAtMs) this.#retryAtMs.set(agent, atMs + byMs);
  }

  round(views: readonly AgentView[]): void {
    if (this.#parts.quietUntilMs() !== null) return;
    const nowMs = this.#parts.clock.nowMs();
    const { spoken } = this.#parts;
    const there = new Set(views.map(({ agent }) => agent));
    for (const agent of this.#retryAtMs.keys()) if (!there.has(agent)) this.#retryAtMs.delete(agent);
    for (const view of views) {
      // A second prompt would only queue behind the one that is under way.
      if (spoken.isSpeakingTo(view.agent) || this.#parts.isHandedOver(view.agent)) continue;
      const running = this.#parts.progress(view.agent);
      if (running === null || !this.#parts.isReadUp(view.agent)) continue;
      if (nowMs < (this.#retryAtMs.get(view.agent) ?? 0)) continue;
      const { spawn, prompt } = this.#parts.configFor(view.agent);
      const due = isProgressDue(view, {
        nowMs,
        mode: spawn.progress,
        everyMs: spawn.progressMinutes * 60_000,
        minIntervalMs: prompt.minIntervalMinutes * 60_000,
        running,
        lastAskMs: spoken.lastAsked(view.agent) ?? this.#startedMs,
        lastAgentPromptMs: spoken.lastTo(view.agent),
      });
      if (due) this.#begin(view, nowMs);
    }
  }

  settled(): Promise<void> {
    return this.#running.settled();
  }

  #begin(view: AgentView, nowMs: number): void {
    this.#retryAtMs.set(view.agent, nowMs + retryMs);
    this.#running.begin(this.#parts.spoken.speak(view, () => this.#ask(view), true));
  }

  async #ask(view: AgentView): Promise<boolean> {
    const filled = fillTemplate('spawn-update', {}, this.#parts.config().templates);
    if (!filled.ok) return false;
    const result = await this.#parts.actions.prompt({
      ...{ host: view.host, agent: view.agent },
      text: filled.text,
      trigger: progressTrigger,
      by: 'rule',
      finding: null,
      isAside: true,
      waitMs: 0,
    });
    if (result.outcome === 'refused') return false;
    this.#retryAtMs.delete(view.agent);
    return true;
  }
}
