import { z } from 'zod';
import { trendLimits } from '../detect/trends/check.ts';
import { amount, list, minutesMax, percent, section, text } from './fields.ts';
import { judgedByDefault } from './judged.ts';

const tokensMax = 100_000_000;
const factorError = 'a number greater than 1 and at most 1000';

function factor() {
  return z.number({ error: factorError }).gt(1, { error: factorError }).lte(1_000, { error: factorError });
}

function count(min: number) {
  const error = `a whole number from ${min} to 1000`;
  return z.int({ error }).min(min, { error }).max(1_000, { error });
}

const completionRule = section({
  match: text('an agent name, where * stands for any characters and ? for one')
    .max(200, { error: 'an agent name or pattern of at most 200 characters' })
    .describe('An agent name, where * stands for any characters and ? for one.'),
  signal: text('the words that say that the work is done')
    .default('<promise>COMPLETE</promise>')
    .describe('What the agent says when its work is done.'),
});

export const judging = section({
  startMinutes: amount(minutesMax)
    .default(5)
    .describe("How long an agent's process may live without anything to be read of it."),
  completion: list(completionRule, 'rules, each with match and signal')
    .default([])
    .describe('Which agents have agreed to say that their work is done, and how: the first rule that matches counts.'),
  completionMinutes: amount(minutesMax)
    .default(judgedByDefault.judging.completionMinutes)
    .describe('How long after the end of a turn without that signal it counts as missing.'),
  massCount: count(2).default(3).describe('So many agents in the same trouble at once are one trouble of the host.'),
  massPercent: percent().default(30).describe('And so many percent of all agents.'),
  massMinutes: amount(minutesMax).default(5).describe('Troubles that begin within this time begin at once.'),
  sameFile: count(2)
    .default(trendLimits.sameFile)
    .describe('How often an unchanged file is read, or an edit of one file fails, before that is a repetition.'),
  errorFactor: factor()
    .default(trendLimits.errorFactor)
    .describe('How many times as often as before steps fail when errors accelerate.'),
  burnTokens: amount(tokensMax)
    .default(trendLimits.burnTokens)
    .describe('Tokens, weighted by price, that may go into results that bring nothing new.'),
  costFactor: factor()
    .default(trendLimits.costFactor)
    .describe('How many times as much as before a request costs in a cost spike.'),
  cachePercent: percent()
    .default(trendLimits.cachePercent)
    .describe('The share of the input that should come from the cache at least.'),
  efficiencyFactor: factor()
    .default(trendLimits.efficiencyFactor)
    .describe('How many times as many tokens as before a change takes when efficiency is low.'),
  decayTokens: amount(tokensMax)
    .default(trendLimits.decayTokens)
    .describe('From how many tokens on a context is long enough for an agent to do worse in it.'),
  entropyPercent: percent()
    .default(trendLimits.entropyPercent)
    .describe('What may be left of the variety of the actions before it counts as collapsed.'),
})
  .prefault({})
  .describe('When the health checks speak; nothing is done to an agent because of these thresholds.');
