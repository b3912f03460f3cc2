import type { Config } from '../config/schema.ts';
import type { AgentView } from '../model/agent.ts';
import { keepNewest } from '../model/keep-newest.ts';
import { notAfter } from '../model/not-after.ts';
import type { Store } from '../model/store.ts';
import type { Clock } from '../model/world.ts';

interface SpokenParts {
  host: string;
  store: Pick<Store, 'lastRulePrompts'>;
  clock: Clock;
  config: () => Config;
}

export const progressTrigger = 'rule:spawn-progress';
const lastMax = 1_000;

/** When rules last spoke to each agent, by the ledger, and to whom one speaks at this moment: one prompt at a time. */
export class Spoken {
  readonly #parts: SpokenParts;
  readonly #toAgent = new Map<string, number>();
  readonly #inProject = new Map<string, { agent: string; atMs: number }>();
  readonly #asked = new Map<string, number>();
  readonly #speakingTo = new Set<string>();

  constructor(parts: SpokenParts) {
    this.#parts = parts;
  }

  async restore(): Promise<boolean> {
    const { host, store, clock, config } = this.#parts;
    const nowMs = clock.nowMs();
    const { prompt, spawn } = config();
    const matterMs = Math.max(prompt.minIntervalMinutes, spawn.progressMinutes) * 60_000;
    const last = await store.lastRulePrompts(host, nowMs - matterMs);
    if (!last.ok) return false;
    for (const { agent, project, trigger, atMs } of last.value) {
      // One that seems to be still to come was typed by a clock that was ahead.
      const said = notAfter(atMs, nowMs);
      note(this.#toAgent, agent, said);
      this.#noteProject(project, agent, said);
      if (trigger === progressTrigger) note(this.#asked, agent, said);
    }
    return true;
  }

  /** Somebody else's prompt, by the agent's own record. */
  heard({ agent, project }: Pick<AgentView, 'agent' | 'project'>, atMs: number): void {
    const said = notAfter(atMs, this.#parts.clock.nowMs());
    if (said <= (this.lastTo(agent) ?? 0)) return;
    note(this.#toAgent, agent, said);
    this.#noteProject(project, agent, said);
  }

  /** The wall clock was set, or the machine slept: what was said is as long ago as it was. */
  clockSet(byMs: number, nowMs: number): void {
    for (const times of [this.#toAgent, this.#asked])
      for (const [agent, atMs] of times) times.set(agent, notAfter(atMs + byMs, nowMs));
    for (const last of this.#inProject.values()) last.atMs = notAfter(last.atMs + byMs, nowMs);
  }

  lastTo(agent: string): number | null {
    return this.#toAgent.get(agent) ?? null;
  }

  /** The last prompt to another agent of its project. */
  lastBeside({ agent, project }: Pick<AgentView, 'agent' | 'project'>): number | null {
    const last = this.#inProject.get(project);
    return last === undefined || last.agent === agent ? null : last.atMs;
  }

  /** When it was last asked for the progress of its background work. */
  lastAsked(agent: string): number | null {
    return this.#asked.get(agent) ?? null;
  }

  isSpeakingTo(agent: string): boolean {
    return this.#speakingTo.has(agent);
  }

  /** `say`: whether it was said, as far as anybody knows. */
  async speak({ agent, project }: AgentView, say: () => Promise<boolean>, isAsking = false): Promise<void> {
    const { clock } = this.#parts;
    this.#speakingTo.add(agent);
    this.#noteProject(project, agent, clock.nowMs());
    // Where it broke off, it may have been said.
    let isSaid = true;
    try {
      isSaid = await say();
    } finally {
      this.#speakingTo.delete(agent);
      const nowMs = clock.nowMs();
      if (isSaid) note(this.#toAgent, agent, nowMs);
      if (isSaid && isAsking) note(this.#asked, agent, nowMs);
    }
  }

  #noteProject(project: string, agent: string, atMs: number): void {
    keepNewest(this.#inProject, project, { agent, atMs }, lastMax);
  }
}

function note(last: Map<string, number>, name: string, atMs: number): void {
  keepNewest(last, name, Math.max(atMs, last.get(name) ?? 0), lastMax);
}
