import type { Authority } from '../../model/agent.ts';
import type { AgentRule, Config } from './schema.ts';

const rank: Record<Authority, number> = { observe: 0, nudge: 1, manage: 2 };

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
  return rank[project] < rank[machine] ? project : machine;
}

/** A rule someone wrote counts more than that Watchkeeper launched the agent. */
function byRules(rules: readonly AgentRule[], agentName: string, facts: AgentFacts): Authority {
  const rule = rules.find((candidate) => matchesGlob(candidate.match, agentName));
  return rule?.authority ?? (facts.launchedByUs ? 'manage' : 'observe');
}

/** `*` any characters, `?` one. Only the last star is ever tried again, so no pattern takes exponential time. */
export function matchesGlob(pattern: string, name: string): boolean {
  const wanted = [...pattern];
  const actual = [...name];
  let at = 0;
  let star = -1;
  let starAt = 0;
  let index = 0;
  while (index < actual.length) {
    if (wanted[at] === '*') {
      star = at;
      starAt = index;
      at += 1;
    } else if (at < wanted.length && (wanted[at] === '?' || wanted[at] === actual[index])) {
      at += 1;
      index += 1;
    } else if (star !== -1) {
      starAt += 1;
      index = starAt;
      at = star + 1;
    } else {
      return false;
    }
  }
  while (wanted[at] === '*') at += 1;
  return at === wanted.length;
}
