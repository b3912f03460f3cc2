import { z } from 'zod';
import { pause as beginPause } from '../../home/home.ts';
import { newWord, wordCharsMax } from '../../home/words.ts';
import { fail, ok } from '../../model/result.ts';
import { defineRequest, wordIdField } from './request.ts';

/** Whoever asks may: nothing is safer than to do nothing. */
export const pause = defineRequest({
  name: 'pause',
  who: 'anyone',
  input: { reason: z.string().max(wordCharsMax), id: wordIdField },
  answer: ({ reason, id }, { home, words }, by) => {
    const paused = beginPause(home, by, reason);
    if (!paused.ok) return fail('impossible', paused.message, paused.fix);
    words.say(newWord('pause', by, { reason }, id));
    return ok({ v: 1 });
  },
});
