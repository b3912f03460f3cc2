import type { HandoffSigns } from '../../detect/handoff-signs.ts';
import type { HandoffAction } from '../../model/handoff.ts';
import { hasArrived, openMs } from './deeds.ts';

// What we typed, as the session's own record has it: a prompt is known again by its tag, a command by name and time.

/**
 * A command carries no tag: the session's own record of it, soon after it was typed, is what is known of it where the
 * ledger has no word, such as after a crash.
 */
export function withTraces(actions: readonly HandoffAction[], { old, fresh }: Sessions): HandoffAction[] {
  return actions.map((action) => {
    if ((action.deed !== 'ask' && action.deed !== 'resume') || hasArrived(action)) return action;
    const signs = action.deed === 'ask' ? old : fresh;
    const isIt = (sign: Trace) => isTraceOf(action, sign);
    if (signs.prompts.some(isIt))
      return { ...action, outcomes: [...action.outcomes, { outcome: 'confirmed', reason: 'proved-late' }] };
    if (signs.unknown.some(isIt)) return { ...action, outcomes: [{ outcome: 'refused', reason: 'unknown-command' }] };
    return action;
  });
}

interface Sessions {
  old: HandoffSigns;
  fresh: HandoffSigns;
}

/** Is this the record of what we typed? */
export function isTraceOf(action: HandoffAction, sign: Trace): boolean {
  const tag = /\[(wk-\w+)\]$/.exec(action.typed ?? '')?.[1];
  if (tag !== undefined) return sign.tags?.includes(tag) === true;
  const sinceMs = sign.atMs - action.atMs;
  return sign.command !== null && sign.command === typedCommand(action) && sinceMs >= 0 && sinceMs < openMs;
}

interface Trace {
  atMs: number;
  command: string | null;
  tags?: readonly string[];
}

/** The name of a command that was typed; null: it was a prompt. */
function typedCommand({ typed }: HandoffAction): string | null {
  return /^\/([\w:.-]+)/.exec(typed ?? '')?.[1] ?? null;
}
