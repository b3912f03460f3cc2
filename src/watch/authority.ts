import { ruleFor } from '../config/match.ts';
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

/** By what an agent may be treated so. `rename`: its name or its session is another one by now, and the lesser counts. */
export type AuthorityGround =
  | { by: 'outside-tmux' | 'person' | 'no-rule' | 'rename' }
  | { by: 'rule'; match: string; isProjects: boolean };

export interface GroundedAuthority {
  authority: Authority;
  ground: AuthorityGround;
}

/**
 * A person's word counts more than the rules. An agent keeps its name when its session is renamed or its pane is moved: the
 * rules count for the session it is in too, and nothing is done to one whose name means another agent by now.
 */
export function authorityNow(agent: string, { session, said, config, others }: Facts): GroundedAuthority {
  if (session === null) return { authority: 'observe', ground: { by: 'outside-tmux' } };
  const own = said === null ? byRules(config, agent) : ({ authority: said, ground: { by: 'person' } } as const);
  if (isNamedAfter(agent, session)) return own;
  if (others().some((other) => isNamedAfter(agent, other))) return { authority: 'observe', ground: { by: 'rename' } };
  const here = byRules(config, session);
  return said === null && rankOf(here.authority) < rankOf(own.authority)
    ? { authority: here.authority, ground: { by: 'rename' } }
    : own;
}

function byRules(config: Facts['config'], name: string): GroundedAuthority {
  const { authority, rule, isProjects } = ruleFor(config, name);
  return { authority, ground: rule === null ? { by: 'no-rule' } : { by: 'rule', match: rule.match, isProjects } };
}
