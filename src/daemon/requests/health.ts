import { z } from 'zod';
import { ok } from '../../model/result.ts';
import { healthDocument } from '../status.ts';
import { agentField, defineRequest } from './request.ts';
import { statusDocument, statusOf } from './status.ts';

/** The checks' verdict on all agents that live, and on the host. */
export const health = defineRequest({
  name: 'health',
  who: 'anyone',
  input: { filter: z.enum(['unhealthy']).nullable() },
  answer: ({ filter }, doors) => {
    const { agents, findings } = statusDocument(doors);
    const all = agents.filter((agent) => agent.state !== 'ended').map(healthDocument);
    const items = filter === null ? all : all.filter((item) => item.status !== 'healthy');
    return ok({ v: 1, items, findings });
  },
});

export const agentHealth = defineRequest({
  name: 'agent-health',
  who: 'anyone',
  input: { agent: agentField },
  answer: ({ agent }, doors) => {
    const of = statusOf(agent, doors);
    return of.ok ? ok({ v: 1, ...healthDocument(of.value) }) : of;
  },
});
