import { z } from 'zod';
import type { CommandResult } from '../../actions/actions.ts';
import type { Refusal } from '../../model/action.ts';
import { ok } from '../../model/result.ts';
import { agentField, defineRequest, type RequestAnswer } from './request.ts';

const waitMsMax = 86_400_000;

/** `would`, `against`: of a dry run, which does nothing and has no id; its outcome is null where nothing speaks against it. */
type InterruptDocument = Omit<CommandResult, 'id' | 'outcome'> & { v: 1; host: string } & {
  id: string | null;
  outcome: CommandResult['outcome'] | null;
  would?: string;
  against?: readonly Refusal[];
};

/** One Escape that ends the turn which runs; `dryRun`: everything that speaks against it. */
export const interrupt = defineRequest({
  name: 'interrupt',
  who: 'anyone',
  input: { agent: agentField, waitMs: z.number().min(0).max(waitMsMax), dryRun: z.boolean() },
  answer: async ({ agent, waitMs, dryRun }, { acting, host }, by): Promise<RequestAnswer<InterruptDocument>> => {
    if (!dryRun) return ok({ v: 1, ...(await acting.interrupt(agent, by, waitMs)), host: host.name });
    const { would, against } = await acting.wouldInterrupt(agent);
    const [reason = null] = against;
    const outcome = reason === null ? null : ('refused' as const);
    return ok({ v: 1, id: null, agent, outcome, reason, proof: null, proof_ms: null, host: host.name, would, against });
  },
});
