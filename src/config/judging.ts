import { z } from 'zod';
import { amount, minutesMax, oneOf, percent, section } from './fields.ts';
import { thresholdFields } from './thresholds.ts';

// When something counts as wrong.

const bandsError = 'four ascending numbers greater than 0 and less than 100';
export const bands = z
  .tuple([percent(), percent(), percent(), percent()], { error: bandsError })
  .refine((value) => value.every((edge, index) => index === 0 || edge > (value[index - 1] ?? edge)), {
    error: bandsError,
  })
  .default([30, 50, 70, 85])
  .describe(
    'The four edges, in percent of the context window, between the five bands that decide what work an agent accepts.',
  );

export const spawn = section({
  ...thresholdFields('spawn'),
  progressMinutes: amount(minutesMax)
    .default(10)
    .describe('How often an agent is asked for the progress of its running background work.'),
  progress: oneOf(['auto', 'always', 'never'])
    .default('auto')
    .describe(
      'Whether agents are asked for progress: auto only about work that cannot be seen without asking, such as work tracked without an output file.',
    ),
})
  .prefault({})
  .describe('When background work counts as stalled or abandoned, and when its agent is asked about it.');

export const stall = section({
  ...thresholdFields('stall'),
})
  .prefault({})
  .describe('When a working agent counts as stuck.');

export const waiting = section({
  ...thresholdFields('waiting'),
  repeatMinutes: amount(minutesMax)
    .default(30)
    .describe('How long until the message is repeated while nobody has acknowledged it.'),
})
  .prefault({})
  .describe('When a human is told that an agent waits for one.');
