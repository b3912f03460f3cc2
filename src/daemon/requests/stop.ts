import { z } from 'zod';
import { ok } from '../../model/result.ts';
import { defineRequest } from './request.ts';

export const stop = defineRequest({
  name: 'stop',
  who: 'anyone',
  input: { keepDb: z.boolean() },
  answer: ({ keepDb }, doors) => {
    // The answer has to be on its way before the socket goes.
    setImmediate(() => doors.stop(keepDb));
    return ok({ ok: true });
  },
});
