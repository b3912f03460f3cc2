import { z } from 'zod';
import { ok } from '../../model/result.ts';
import { agentField, defineRequest } from './request.ts';

const waitMsMax = 86_400_000;

/** One Escape that ends the turn which runs; `dryRun`: everything that speaks against it. */
export const interrupt = defineRequest({
  name: 'interrupt',
  who: 'anyone',
  input: { agent: agentField, waitMs: z.number().min(0).max(waitMsMax), dryRun: z.boolean() },
  answer: async ({ agent, waitMs, dryRun }, { acting, host }, by) => {
    if (!dryRun) return ok({ v: 1, ...(await acting.interrupt(agent, by, waitMs)), host: host.name });
    const { would, against } = await acting.wouldInterrupt(agent);
    const [reason = null] = against;
    const outcome = reason === null ? null : ('refused' as const);
    return ok({ v: 1, id: null, agent, outcome, reason, proof: null, proof_ms: null, host: host.name, would, against });
  },
});
