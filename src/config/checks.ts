import { list, section, text } from './fields.ts';
import { thresholdFields } from './thresholds.ts';

const completionRule = section({
  match: text('an agent name, where * stands for any characters and ? for one')
    .max(200, { error: 'an agent name or pattern of at most 200 characters' })
    .describe('An agent name, where * stands for any characters and ? for one.'),
  signal: text('the words that say that the work is done')
    .default('<promise>COMPLETE</promise>')
    .describe('What the agent says when its work is done.'),
});

export const judging = section({
  ...thresholdFields('judging'),
  completion: list(completionRule, 'rules, each with match and signal')
    .default([])
    .describe('Which agents say a fixed signal when their work is done: the first rule that matches counts.'),
})
  .prefault({})
  .describe('From when on these checks find a trouble; nothing is typed to an agent because of them.');
