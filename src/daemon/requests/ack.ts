import { z } from 'zod';
import { fail, ok } from '../../model/result.ts';
import { defineRequest, idField } from './request.ts';

/** No more messages about it. The beginning of an id is enough; `denied`: there is no such trouble. */
export const ack = defineRequest({
  name: 'ack',
  who: 'people',
  input: { id: idField, denied: z.boolean() },
  answer: async ({ id, denied }, { acting }, by) => {
    const incident = await acting.acknowledge(id, denied, by);
    if (incident === null) return fail('not-found', `nothing open has the id ${id}`, '`watchkeeper inbox` lists them');
    return ok({ v: 1, id: incident.id, agent: incident.agent });
  },
});
