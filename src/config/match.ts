import type { Authority } from '../model/agent.ts';
import { rankOf } from '../model/authority.ts';
import { matchesGlob } from '../model/glob.ts';
import type { AgentRule, Config } from './schema.ts';

export function authorityFor(
  config: Pick<Config, 'agents' | 'projectAgents'>,
  agentName: string,
  inTmux: boolean,
): Authority {
  // Outside tmux there is no terminal of its own to act through.
  if (!inTmux) return 'observe';
  const machine = byRules(config.agents, agentName);
  if (config.projectAgents === null) return machine;
  const project = byRules(config.projectAgents, agentName);
  return rankOf(project) < rankOf(machine) ? project : machine;
}

function byRules(rules: readonly AgentRule[], agentName: string): Authority {
  return rules.find((candidate) => matchesGlob(candidate.match, agentName))?.authority ?? 'observe';
}
