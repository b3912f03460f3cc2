import { authorityFor } from '../config/match.ts';
import type { Config } from '../config/schema.ts';
import type { Authority } from '../model/agent.ts';
import { rankOf } from '../model/authority.ts';
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
