import type { Config } from '../config/schema.ts';
import { recipeCalled } from '../decide/handoff/recipe.ts';
import type { AgentView } from '../model/agent.ts';
import type { Store } from '../model/store.ts';
import type { WatchedAgent } from '../watch/watched-agent.ts';
import type { Cycle } from './cycle.ts';
import { anchored, putBack } from './look.ts';
import { type OwnPlace, whyNotOurs, whyNotPutBack } from './own-place.ts';

export interface TrustParts {
  config: () => Config;
  agent: (name: string) => Pick<WatchedAgent, 'sessionId'> | null;
  store: Pick<Store, 'handoffText'>;
  /** Where a process is. */
  directory: (pid: number) => string | null;
  /** The client has a record of that session of the agent, as far as can be known. */
  hasSession: (agent: string, sessionId: string) => boolean;
  /** A row that is not what it should be. */
  odd: (table: string, row: string, why: string) => void;
}

/** What was read back from the database is judged before anything is looked at, allowed, written or typed for it. */
export class Trust {
  readonly #parts: TrustParts;

  constructor(parts: TrustParts) {
    this.#parts = parts;
  }

  /** `later`: nothing is known yet of the agent itself. */
  async judge(cycle: Cycle, view: AgentView | null): Promise<'ours' | 'foreign' | 'later'> {
    if (cycle.isOurs) return 'ours';
    const { handoff, actions } = cycle;
    if (view === null || this.#parts.agent(handoff.agent) === null) return 'later';
    const place = this.#place(cycle, view);
    if (place.directories.every((directory) => directory === null)) return 'later';
    const stored = handoff.sha256 === null ? null : await this.#parts.store.handoffText(handoff.id);
    if (stored?.ok === false) return 'later';
    const why = whyNotOurs(handoff, actions, place, stored === null ? null : (stored.value ?? ''));
    cycle.isOurs = why === null;
    if (why === null) return 'ours';
    this.#parts.odd('handoffs', handoff.id, why);
    return 'foreign';
  }

  /** The stored document, at its place again. */
  putBack(cycle: Cycle, view: AgentView, text: string): ReturnType<typeof putBack> {
    const { handoff } = cycle;
    const why = whyNotPutBack(handoff, text, this.#place(cycle, view));
    if (why === null) return putBack(handoff.file, text);
    this.#parts.odd('handoffs', handoff.id, why);
    return { reason: `the document was not put back: ${why}` };
  }

  #place({ handoff }: Cycle, view: AgentView): OwnPlace {
    const { dir, recipes } = this.#parts.config().handoff;
    const hasSession = (sessionId: string) => this.#parts.hasSession(handoff.agent, sessionId);
    const directories = [view.cwd, this.#parts.directory(view.process.pid)];
    return { directories, hasSession, dir: anchored(dir), recipe: recipeCalled(handoff.recipe, recipes) };
  }
}
