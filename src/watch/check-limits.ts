import { completionMs } from '../detect/checks/completion-missing.ts';
import type { CompletionLimits } from '../detect/loops/completion.ts';
import type { Values } from '../detect/thresholds.ts';

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
