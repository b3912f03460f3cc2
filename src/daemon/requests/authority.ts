import { z } from 'zod';
import { fail, ok } from '../../model/result.ts';
import { agentField, defineRequest } from './request.ts';

/** How far Watchkeeper may go with an agent: a person's word, which counts more than the rules. */
export const authority = defineRequest({
  name: 'authority',
  who: 'people',
  input: { agent: agentField, authority: z.enum(['observe', 'nudge', 'manage']) },
  answer: async ({ agent, authority: level }, { acting, board }, by) => {
    const view = board.view(agent);
    if (view?.tmux == null && level !== 'observe')
      return fail('impossible', `${agent} runs outside tmux`, 'such an agent can only be observed');
    return (await acting.setAuthority(agent, level, by))
      ? ok({ v: 1, agent, authority: level })
      : fail('no-database', 'it holds now, but could not be stored', 'see `watchkeeper doctor`');
  },
});
