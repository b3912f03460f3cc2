import { goOnCommand } from '../../decide/message.ts';
import type { AnsweredPrompts } from '../../model/deeds.ts';
import { fail, ok } from '../../model/result.ts';
import { neededBy, nextOf } from '../people.ts';
import { type AgentDocument, agentDocument, findingDocument, type StatusDocument } from '../status.ts';
import type { Doors } from './doors.ts';
import { agentField, defineRequest, type RequestAnswer } from './request.ts';

export const status = defineRequest({
  name: 'status',
  who: 'anyone',
  input: {},
  async answer(_, doors) {
    await doors.acting.promptTally.refresh();
    return ok(statusDocument(doors));
  },
});

/** The same of one agent alone. */
export const agentStatus = defineRequest({
  name: 'agent-status',
  who: 'anyone',
  input: { agent: agentField },
  answer: ({ agent }, doors) => {
    const of = statusOf(agent, doors);
    return of.ok ? ok({ ...statusDocument(doors), agents: [of.value] }) : of;
  },
});

export function statusDocument(doors: Doors): StatusDocument {
  const { acting, board, spawns } = doors;
  const nowMs = doors.clock.nowMs();
  const config = doors.config();
  const quietUntilMs = doors.quietUntilMs();
  const needed = neededBy(doors);
  return {
    v: 1,
    daemon: {
      pid: process.pid,
      since: new Date(doors.sinceMs).toISOString(),
      paused: doors.paused(),
      mode: config.mode,
      watch_only: doors.watchOnly,
      quiet_until: quietUntilMs === null ? null : new Date(quietUntilMs).toISOString(),
      config_missing: doors.missing(),
      tick_ms: config.tickSeconds * 1000,
      bands: config.bands,
      prompts: promptsDocument(acting.promptTally.last),
    },
    agents: board.views().map((view) => ({
      ...agentDocument(view, doors.host.name, spawns.documents(view.agent), nowMs),
      handoff: acting.handoffs.running(view.agent),
      hold: acting.holdOn(view.agent),
      needs_you: needed.includes(view.agent),
      next: nextOf(view.agent, doors),
      resume: view.reading.state === 'ended' ? goOnCommand(view, doors.userHome) : null,
      handoff_waits: doors.handoffWaits(view.agent),
    })),
    needs_you: needed,
    findings: board.loose().map(({ finding }) => findingDocument(finding)),
  };
}

function promptsDocument(tally: AnsweredPrompts | null): StatusDocument['daemon']['prompts'] {
  return tally === null ? null : { given: tally.given, in_time: tally.inTime };
}

/** Of one agent. It was known when the request was read, and may be gone by now. */
export function statusOf(name: string, doors: Doors): RequestAnswer<AgentDocument> {
  const found = statusDocument(doors).agents.find(({ agent }) => agent === name);
  return found === undefined ? fail('no-agent', `no agent \`${name}\``) : ok(found);
}
