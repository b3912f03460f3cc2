import { ok } from '../../model/result.ts';
import { defineRequest, followsEvents } from './request.ts';

/** Every event from now on. */
export const follow = defineRequest({
  name: 'follow',
  who: 'anyone',
  input: {},
  answer: () => ok(followsEvents),
});
