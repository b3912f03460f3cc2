import { unpause as endPause } from '../../home/home.ts';
import { newWord } from '../../home/words.ts';
import { ok } from '../../model/result.ts';
import { defineRequest, wordIdField } from './request.ts';

/** The pause is a file, so that it holds without a daemon; only whether an agent asks is known here alone. */
export const unpause = defineRequest({
  name: 'unpause',
  who: 'people',
  input: { id: wordIdField },
  answer: ({ id }, { home, words }, by) => {
    endPause(home);
    words.say(newWord('unpause', by, {}, id));
    return ok({ v: 1 });
  },
});
