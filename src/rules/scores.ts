import { type Act, endingOf } from '../decide/ending.ts';
import type { Trigger } from '../model/action.ts';
import type { AgentView } from '../model/agent.ts';
import type { Incident } from '../model/incident.ts';
import type { Score } from '../model/score.ts';
import type { SessionEvent } from '../model/session-event.ts';
import type { SpawnStatus } from '../model/spawn.ts';

interface ScoresParts {
  /** Whose prompt carries this tag; null: nobody knows any more. */
  promptedBy: (tag: string) => { trigger: Trigger; findings: readonly string[] } | null;
  /** Whether a handoff's own Escape ended the turn. */
  interruptedByUs: (agent: string, atMs: number) => boolean;
  /** How the work stands; null: there is none of that id. */
  spawnStatus: (agent: string | null, subject: string) => SpawnStatus | null;
}

const actsMax = 50;

/** Who did what to the agents, by their own records, and how the troubles therefore ended. */
export class Scores {
  readonly #parts: ScoresParts;
  readonly #acts = new Map<string, Act[]>();

  constructor(parts: ScoresParts) {
    this.#parts = parts;
  }

  told(agent: string, event: SessionEvent): void {
    const act = this.#actOf(agent, event);
    if (act === null) return;
    const acts = this.#acts.get(agent) ?? [];
    acts.push(act);
    this.#acts.set(agent, acts.slice(-actsMax));
  }

  forgetOthers(agents: ReadonlySet<string>): void {
    for (const agent of this.#acts.keys()) if (!agents.has(agent)) this.#acts.delete(agent);
  }

  score(incident: Incident, view: AgentView | null, endedMs: number, denied: boolean): Score {
    const { id, host, agent, check, subject, openedMs } = incident;
    const acts = (agent === null ? undefined : this.#acts.get(agent)) ?? [];
    const spawn = subject === null ? null : this.#parts.spawnStatus(agent, subject);
    const ending = endingOf(incident, { view, acts, spawn, denied });
    return { incident: id, host, agent, check, openedMs, endedMs, ending };
  }

  #actOf(agent: string, { fact, atMs }: SessionEvent): Act | null {
    if (fact.kind === 'interrupted') {
      const by = this.#parts.interruptedByUs(agent, atMs) ? 'other' : 'person';
      return { atMs, by, what: 'interrupted' };
    }
    if (fact.kind !== 'prompt' || fact.origin === 'client') return null;
    return { atMs, by: this.#author(fact.tags), what: fact.origin === 'mid-turn' ? 'joined' : 'began-turn' };
  }

  #author([tag]: string[]): Act['by'] {
    if (tag === undefined) return 'person';
    const prompt = this.#parts.promptedBy(tag);
    if (prompt === null) return 'other';
    if (prompt.trigger === 'human') return 'person';
    return prompt.trigger.startsWith('rule:') && prompt.findings.length > 0 ? { rules: prompt.findings } : 'other';
  }
}
