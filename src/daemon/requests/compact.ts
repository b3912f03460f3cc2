import { ok } from '../../model/result.ts';
import { agentField, defineRequest } from './request.ts';

/** By the client's own command. */
export const compact = defineRequest({
  name: 'compact',
  who: 'anyone',
  input: { agent: agentField },
  answer: async ({ agent }, { acting, host }, by) =>
    ok({ v: 1, ...(await acting.compact(agent, by)), host: host.name }),
});
