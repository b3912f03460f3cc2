import type { Authority } from '../model/agent.ts';
import { rankOf } from '../model/authority.ts';
import { matchesGlob } from '../model/glob.ts';
import type { AgentRule, Config } from './schema.ts';

export interface AgentFacts {
  launchedByUs: boolean;
  inTmux: boolean;
}

export function authorityFor(
  config: Pick<Config, 'agents' | 'projectAgents'>,
  agentName: string,
  facts: AgentFacts,
): Authority {
  // Outside tmux there is no terminal of its own to act through.
  if (!facts.inTmux) return 'observe';
  const machine = byRules(config.agents, agentName, facts);
  if (config.projectAgents === null) return machine;
  const project = byRules(config.projectAgents, agentName, facts);
  return rankOf(project) < rankOf(machine) ? project : machine;
}

/** A rule someone wrote counts more than that Watchkeeper launched the agent. */
function byRules(rules: readonly AgentRule[], agentName: string, facts: AgentFacts): Authority {
  const rule = rules.find((candidate) => matchesGlob(candidate.match, agentName));
  return rule?.authority ?? (facts.launchedByUs ? 'manage' : 'observe');
}
