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
  return ruleFor(config, agentName).authority;
}

/** What the rules allow, and which one it was; null: none names it. */
export function ruleFor(
  { agents, projectAgents }: Pick<Config, 'agents' | 'projectAgents'>,
  agentName: string,
): { authority: Authority; rule: AgentRule | null; isProjects: boolean } {
  const machine = byRules(agents, agentName, false);
  if (projectAgents === null) return machine;
  const project = byRules(projectAgents, agentName, true);
  return rankOf(project.authority) < rankOf(machine.authority) ? project : machine;
}

function byRules(rules: readonly AgentRule[], agentName: string, isProjects: boolean) {
  const rule = rules.find((candidate) => matchesGlob(candidate.match, agentName)) ?? null;
  return { authority: rule?.authority ?? 'observe', rule, isProjects };
}
