import { type Home, runningDaemon } from '../home/home.ts';
import { ok, type Result } from '../model/result.ts';
import type { HostRecord } from '../record/hosts.ts';
import type { QueryFailure } from '../record/queries.ts';
import { hostRecords } from '../rows/records.ts';
import { askControl } from './control.ts';
import { agentDocument } from './status.ts';

/** The JSON shape of `status --all-hosts`. */
export type HostsDocument = Awaited<ReturnType<typeof hostsDocument>>;
type HostDocument = HostsDocument['hosts'][number];
export type HostAgent = HostDocument['agents'][number];

const answerMs = 3_000;

/**
 * Every host on the database. This one's agents come from its daemon; those of all others, and this one's without a daemon, are
 * as their host last wrote them down, with the age of that, and never said to be so now.
 */
export async function allHosts(url: string, home: Home): Promise<Result<HostsDocument, QueryFailure>> {
  const read = await hostRecords(url);
  return read.ok ? ok(await hostsDocument(read.value, home)) : read;
}

async function hostsDocument(records: (HostRecord & { isOwn: boolean })[], home: Home) {
  const daemon = runningDaemon(home);
  const status = daemon === null ? null : await askControl(daemon.sockets.control, { ask: 'status' }, answerMs);
  const live = status?.ok ? status.value : null;
  const nowMs = Date.now();
  return {
    v: 1,
    hosts: records.map(({ id, name, ageMs, agents, isOwn }) => {
      const isLive = isOwn && live !== null;
      // What has ended is no longer anybody's concern here.
      const seen = isLive
        ? live.agents.filter(({ state }) => state !== 'ended')
        : agents.map((view) => agentDocument({ ...view, findings: [] }, name, [], nowMs));
      const age = isLive ? 0 : ageMs === null ? null : Math.round(ageMs / 100) / 10;
      return {
        host: name,
        id,
        own: isOwn,
        live: isLive,
        /** Since it was last heard; null: it was not since that is written down. */
        age_s: age,
        agents: seen.map((agent) => ({ ...recorded(agent), host: name, live: isLive, age_s: age })),
      };
    }),
  };
}

/** What stands in the row of an agent. What is wrong with it only its own host can say. */
function recorded(agent: ReturnType<typeof agentDocument>) {
  const { project, client, client_version, host, authority, cwd, tmux, pid, session_id } = agent;
  const { state, detail, since, source, confidence, tool, model, context, cost_usd } = agent;
  const { last_activity, last_turn, last_turn_at, error, background } = agent;
  return {
    ...{ agent: agent.agent, project, client, client_version, host, authority, cwd, tmux, pid, session_id },
    ...{ state, detail, since, source, confidence, tool, model, context, cost_usd },
    ...{ last_activity, last_turn, last_turn_at, error, background },
  };
}
