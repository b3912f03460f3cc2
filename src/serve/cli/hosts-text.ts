import type { HostAgent, HostsDocument } from '../../daemon/hosts-document.ts';
import { wholePercent } from '../../model/percent.ts';
import { ago, type Cell, line, table, tokens, when } from './output.ts';

/** A host that writes every ten seconds and was not heard for this long is gone, or cut off. */
const silentS = 60;

export function hostsText({ hosts }: HostsDocument): string {
  if (hosts.length === 0) return 'no host has written to this database yet';
  const nowMs = Date.now();
  return hosts
    .map((host) => {
      const own = host.own ? 'this host, ' : '';
      const called = hosts.filter((other) => other.host === host.host).length > 1 ? host.id.slice(0, 8) : host.host;
      const name = called === host.host ? host.host : `${host.host} (${called})`;
      const head = line(`${own}${name}: ${heard(host, nowMs)}`);
      if (host.agents.length === 0) return `${head}\nno agent`;
      const title = host.live ? 'STATE' : 'WAS';
      const rows = host.agents.map((agent) => row(agent, host.own ? null : called));
      return [head, table(['AGENT', title, 'SINCE', 'CONTEXT', 'LAST TURN', 'MAY'], rows)].join('\n');
    })
    .join('\n\n');
}

function heard({ live, age_s: age }: HostsDocument['hosts'][number], nowMs: number): string {
  if (live) return 'watched now';
  if (age === null) return 'not heard since it was last started anew';
  const since = ago(nowMs - age * 1000, nowMs);
  return age > silentS ? `silent for ${since}, its agents are as they were then` : `last heard ${since} ago`;
}

/** Those of others under the name by which commands take them. */
function row(agent: HostAgent, host: string | null): Cell[] {
  const { context } = agent;
  return [
    { text: host === null ? agent.agent : `${host}/${agent.agent}` },
    { text: agent.detail === null ? agent.state : `${agent.state}/${agent.detail}` },
    { text: when(agent.since) },
    { text: context === null ? '-' : `${wholePercent(context.percent)}% of ${tokens(context.window)}` },
    { text: agent.last_turn ?? '-' },
    { text: agent.authority },
  ];
}
