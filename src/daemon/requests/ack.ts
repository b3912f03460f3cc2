import { z } from 'zod';
import { fail, ok } from '../../model/result.ts';
import { defineRequest, idField } from './request.ts';

/** No more messages about it. The beginning of an id is enough; `denied`: there is no such trouble. */
export const ack = defineRequest({
  name: 'ack',
  who: 'people',
  input: { id: idField, denied: z.boolean() },
  answer: async ({ id, denied }, { acting, note }, by) => {
    const incident = await acting.acknowledge(id, denied);
    if (incident === null) return fail('not-found', `nothing open has the id ${id}`, '`watchkeeper inbox` lists them');
    // It is acknowledged also where the database is away: its row follows, and with it who it was about.
    const { agent, check } = incident;
    await note({ kind: 'ack', agent, finding: incident.id, intent: { check, denied } }, by);
    return ok({ v: 1, id: incident.id, agent });
  },
});
