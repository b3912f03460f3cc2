import type { Config } from '../config/schema.ts';
import { completionMs } from '../detect/checks/completion-missing.ts';
import type { CompletionLimits } from '../detect/loops/completion.ts';
import type { Values } from '../detect/thresholds.ts';
import { matchesGlob } from '../model/glob.ts';

/** What an agent has agreed to say when it is done; null: nothing. */
export function completionSignal({ completion }: Config['judging'], agent: string): string | null {
  return completion.find(({ match }) => matchesGlob(match, agent))?.signal ?? null;
}

export interface CompletionRule {
  match: string;
  signal: string;
}

/** What any agent has agreed to say, whatever its name: a record does not tell which one wrote it. */
export function everyonesCompletion([rule]: readonly CompletionRule[], values: Values): CompletionLimits | null {
  if (rule === undefined || !/^\*+$/.test(rule.match)) return null;
  const limits = values as Parameters<typeof completionMs>[0];
  return { signal: rule.signal, afterMs: completionMs(limits) };
}
