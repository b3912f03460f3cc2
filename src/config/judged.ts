import { trendLimits } from '../detect/trends/check.ts';

const completion: readonly { match: string; signal: string }[] = [];

/**
 * What holds for the judging of runs where no file says otherwise. Apart from the schema that takes it over, because `replay`
 * needs nothing else of a configuration, and the schema takes as long to load as all the rest of it.
 */
export const judgedByDefault = {
  stall: { thinkingMinutes: 5, toolMinutes: 10, mcpMinutes: 15, subagentMinutes: 15 },
  waiting: { notifyMinutes: 2, repeatMinutes: 30 },
  judging: { ...trendLimits, completion, completionMinutes: 1 },
};
