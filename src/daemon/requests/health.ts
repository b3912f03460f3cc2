import { z } from 'zod';
import { ok } from '../../model/result.ts';
import { healthDocument, healthReport } from '../status.ts';
import { agentField, defineRequest } from './request.ts';
import { statusDocument, statusOf } from './status.ts';

/** The checks' verdict on all agents that live or ended in trouble, and on the host. */
export const health = defineRequest({
  name: 'health',
  who: 'anyone',
  input: { filter: z.enum(['unhealthy']).nullable() },
  answer: ({ filter }, doors) => {
    const { items, unhealthy, findings } = healthReport(statusDocument(doors));
    return ok({ v: 1, items: filter === null ? items : unhealthy, findings });
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
