import { amount, secondsMax, section } from './fields.ts';

// Spelled as in the documents it comes from.
export const health = section({
  rate_limit_backoff_seconds: amount(secondsMax)
    .default(60)
    .describe(
      'How long an agent is left alone after a rate limit (a 429 that names no time) has ended its turn; twice as long each further time, and up to half as long again so that agents do not come back together.',
    ),
})
  .prefault({})
  .describe('What is done about troubles of the service.');
