import type { Config } from '../config/schema.ts';
import type { CheckLimits } from '../detect/check.ts';
import type { CompletionLimits } from '../detect/loops/completion.ts';
import type { TrendLimits } from '../detect/trends/check.ts';
import { matchesGlob } from '../model/glob.ts';

const minuteMs = 60_000;

/** What the configuration says to the checks. */
export function checkLimits({ stall, waiting, prompt, judging }: Config): CheckLimits {
  return {
    waitingNotifyMs: waiting.notifyMinutes * minuteMs,
    answerMs: prompt.answerSeconds * 1000,
    startMs: judging.startMinutes * minuteMs,
    completionMs: judging.completionMinutes * minuteMs,
    stallMs: {
      thinking: stall.thinkingMinutes * minuteMs,
      tool: stall.toolMinutes * minuteMs,
      mcp: stall.mcpMinutes * minuteMs,
      subagent: stall.subagentMinutes * minuteMs,
    },
  };
}

export function trendLimitsOf(judging: TrendLimits): TrendLimits {
  const { sameFile, errorFactor, burnTokens, costFactor, cachePercent, efficiencyFactor, decayTokens, entropyPercent } =
    judging;
  return { sameFile, errorFactor, burnTokens, costFactor, cachePercent, efficiencyFactor, decayTokens, entropyPercent };
}

/** What an agent has agreed to say when it is done; null: nothing. */
export function completionSignal({ completion }: Config['judging'], agent: string): string | null {
  return completion.find(({ match }) => matchesGlob(match, agent))?.signal ?? null;
}

export interface AgreedCompletion {
  completion: readonly { match: string; signal: string }[];
  completionMinutes: number;
}

/** What any agent has agreed to say, whatever its name: a record does not tell which one wrote it. */
export function everyonesCompletion({ completion, completionMinutes }: AgreedCompletion): CompletionLimits | null {
  const [rule] = completion;
  if (rule === undefined || !/^\*+$/.test(rule.match)) return null;
  return { signal: rule.signal, afterMs: completionMinutes * minuteMs };
}
