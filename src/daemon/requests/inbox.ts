import { ok } from '../../model/result.ts';
import { defineRequest } from './request.ts';

/** What waits for a human. */
export const inbox = defineRequest({
  name: 'inbox',
  who: 'anyone',
  input: {},
  answer: (_, { acting, host }) => ok({ v: 1, items: acting.inbox().map((item) => ({ ...item, host: host.name })) }),
});
