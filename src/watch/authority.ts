import { authorityFor } from '../config/match.ts';
import type { Config } from '../config/schema.ts';
import type { Authority } from '../model/agent.ts';
import { rankOf } from '../model/authority.ts';
import type { Store } from '../model/store.ts';
import { isNamedAfter } from './names.ts';

interface Facts {
  /** The tmux session it is in at this moment; null: it has no pane, and nothing can be done to it. */
  session: string | null;
  /** What a person said about the agent of this name. */
  said: Authority | null;
  config: Pick<Config, 'agents' | 'projectAgents'>;
  /** The sessions the other living agents are in. */
  others: () => readonly string[];
}

/**
 * A person's word counts more than the rules. An agent keeps its name when its session is renamed or its pane is moved: the
 * rules count for the session it is in too, and nothing is done to one whose name means another agent by now.
 */
export function authorityNow(agent: string, { session, said, config, others }: Facts): Authority {
  if (session === null) return 'observe';
  const asNamed = (name: string) => authorityFor(config, name, true);
  const own = said ?? asNamed(agent);
  if (isNamedAfter(agent, session)) return own;
  if (others().some((other) => isNamedAfter(agent, other))) return 'observe';
  const here = asNamed(session);
  return said === null && rankOf(here) < rankOf(own) ? here : own;
}

/** What people said may be done to agents. It is known before anybody looks at one. */
export class PeoplesWord {
  readonly #store: Pick<Store, 'loadAuthorities' | 'saveAuthority'>;
  readonly #host: string;
  #said: Map<string, Authority> = new Map();

  constructor(store: Pick<Store, 'loadAuthorities' | 'saveAuthority'>, host: string) {
    this.#store = store;
    this.#host = host;
  }

  async restore(): Promise<boolean> {
    const said = await this.#store.loadAuthorities(this.#host);
    if (said.ok) this.#said = said.value;
    return said.ok;
  }

  /** null: nothing was said of it. */
  of(agent: string): Authority | null {
    return this.#said.get(agent) ?? null;
  }

  /** Holds from this moment, whatever the database does. */
  set(agent: string, authority: Authority): void {
    this.#said.set(agent, authority);
  }

  /** Whether it is stored. */
  async save(agent: string, authority: Authority): Promise<boolean> {
    return (await this.#store.saveAuthority(this.#host, agent, authority)).ok;
  }
}
