import { z } from 'zod';
import { newWord } from '../../home/words.ts';
import { ok } from '../../model/result.ts';
import { defineRequest, wordIdField } from './request.ts';

export const stop = defineRequest({
  name: 'stop',
  who: 'anyone',
  input: { keepDb: z.boolean(), id: wordIdField },
  answer: ({ keepDb, id }, doors, by) => {
    doors.words.say(newWord('stop', by, { keep_db: keepDb }, id));
    // The answer has to be on its way before the socket goes.
    setImmediate(() => doors.stop(keepDb));
    return ok({ ok: true });
  },
});
