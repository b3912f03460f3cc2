import { z } from 'zod';
import { fail, ok } from '../../model/result.ts';
import { templateNames } from '../acting.ts';
import { agentField, defineRequest } from './request.ts';

const waitMsMax = 86_400_000;

/** Words of one's own, or a template and its slots; how long to wait for a moment that fits, and then for the answer. */
export const prompt = defineRequest({
  name: 'prompt',
  who: 'anyone',
  input: {
    agent: agentField,
    said: z.union([
      z.string(),
      z.strictObject({ template: z.enum(templateNames), slots: z.record(z.string(), z.string()) }),
    ]),
    waitMs: z.number().min(0).max(waitMsMax),
    /** Also where its context is full. */
    anyway: z.boolean().optional(),
  },
  answer: async ({ agent, said, waitMs, anyway }, { acting, host }, by) => {
    const done = await acting.say(agent, said, by, { waitMs, anyway: anyway === true });
    if ('problem' in done) return fail('bad-request', done.problem, '`watchkeeper config show` lists the templates');
    return ok({ v: 1, ...done, host: host.name });
  },
});
