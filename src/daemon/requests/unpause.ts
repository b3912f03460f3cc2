import { ok } from '../../model/result.ts';
import { defineRequest } from './request.ts';

/** The pause is a file, so that it holds without a daemon; only whether an agent asks is known here alone. */
export const unpause = defineRequest({
  name: 'unpause',
  who: 'people',
  input: {},
  answer: (_, doors) => {
    doors.unpause();
    return ok({ v: 1 });
  },
});
