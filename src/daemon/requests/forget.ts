import { z } from 'zod';
import { forget as forgetTexts } from '../../model/forgotten.ts';
import { fail, ok } from '../../model/result.ts';
import { defineRequest } from './request.ts';

/** Texts that are secret, in each of their spellings: what is stored from now on is without them. */
export const forget = defineRequest({
  name: 'forget',
  who: 'people',
  input: { forms: z.array(z.string().min(6).max(200_000)).min(1).max(20) },
  answer: async ({ forms }, { whyKept, journal }) => {
    const why = await whyKept(forms);
    if (!why.ok) return fail('no-database', why.message);
    if (why.value !== null) return fail('impossible', why.value);
    forgetTexts(forms);
    // What waits to be written is without it too, and is written before the tables are gone through.
    return ok({ ok: await journal.flush() });
  },
});
