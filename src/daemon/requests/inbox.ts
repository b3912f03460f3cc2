import { ok } from '../../model/result.ts';
import { inboxItems, inboxSoon } from '../people.ts';
import { defineRequest } from './request.ts';

/** What waits for a human, and nobody has acknowledged; `soon`: who waits, and nobody was told of yet. */
export const inbox = defineRequest({
  name: 'inbox',
  who: 'anyone',
  input: {},
  answer: (_, doors) => ok({ v: 1, items: inboxItems(doors), soon: inboxSoon(doors) }),
});
