import { recipeCalled } from '../../decide/handoff/recipe.ts';
import type { AgentView } from '../../model/agent.ts';
import type { Config } from '../config/schema.ts';
import type { WatchedAgent } from '../watched-agent.ts';
import type { Cycle } from './cycle.ts';
import { anchored, putBack } from './look.ts';
import { type OwnPlace, whyNotOurs, whyNotPutBack } from './own-place.ts';

export interface TrustParts {
  config: () => Config;
  agent: (name: string) => Pick<WatchedAgent, 'sessionId'> | null;
  /** Where a process is. */
  directory: (pid: number) => string | null;
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
  judge(cycle: Cycle, view: AgentView | null): 'ours' | 'foreign' | 'later' {
    if (cycle.isOurs) return 'ours';
    const { handoff, actions } = cycle;
    if (view === null || this.#parts.agent(handoff.agent) === null) return 'later';
    const place = this.#place(cycle, view);
    if (place.directories.every((directory) => directory === null)) return 'later';
    const why = whyNotOurs(handoff, actions, place);
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
    const directories = [view.cwd, this.#parts.directory(view.process.pid)];
    return { directories, dir: anchored(dir), recipe: recipeCalled(handoff.recipe, recipes) };
  }
}
