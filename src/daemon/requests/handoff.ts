import { z } from 'zod';
import { fail, ok } from '../../model/result.ts';
import { agentField, defineRequest, idField } from './request.ts';

/** Begins one, or says what stands against it. The daemon goes on with it by itself. */
export const handoff = defineRequest({
  name: 'handoff',
  who: 'anyone',
  input: { agent: agentField, dryRun: z.boolean() },
  answer: async ({ agent, dryRun }, { acting, host }, by) =>
    ok({ v: 1, ...(await acting.handoffs.request(agent, dryRun, by)), host: host.name }),
});

/** How far it came. */
export const handoffState = defineRequest({
  name: 'handoff-state',
  who: 'anyone',
  input: { id: idField },
  answer: ({ id }, { acting, host }) => {
    const document = acting.handoffs.document(id);
    if (document === null) return fail('not-found', `no handoff has the id ${id}`, '`watchkeeper handoffs` lists them');
    return ok({ v: 1, ...document, host: host.name });
  },
});
