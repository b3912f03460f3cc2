import { fail, ok } from '../../model/result.ts';
import { latelyDocument } from '../ledger-document.ts';
import { agentField, defineRequest } from './request.ts';

/** Why an agent is seen and treated as it is, and what was found and done lately. */
export const why = defineRequest({
  name: 'why',
  who: 'anyone',
  input: { agent: agentField },
  answer: async ({ agent }, { acting, host, record }) => {
    const now = acting.why(agent);
    if (now === null) return fail('no-agent', `no agent \`${agent}\``);
    const lately = await record(agent);
    return ok({ v: 1, ...now, host: host.name, ...latelyDocument(lately, host.name) });
  },
});
