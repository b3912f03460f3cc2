import { hasArrived } from '../decide/handoff/deeds.ts';
import type { AgentView } from '../model/agent.ts';
import { quoted } from '../model/evidence.ts';
import { type Handoff, type HandoffAction, stepOf } from '../model/handoff.ts';

// The background work of an agent that is handed over: what its document lists, and to which session it belongs afterwards.

/** What the agent is told to list: what its client knows of, then whatever else runs for it. */
export function runningWork(view: Pick<AgentView, 'background'>, running: readonly string[]): string[] {
  return [...new Set([...view.background.map(({ id }) => id), ...running])];
}

/** What its document has to list. Of what its client does not know only what it was told by name: it cannot know more. */
export function workToList(
  view: Pick<AgentView, 'background'>,
  running: readonly string[],
  actions: readonly HandoffAction[],
): string[] {
  const told = actions.filter((action) => action.deed === 'ask' && hasArrived(action)).map(({ typed }) => typed ?? '');
  return runningWork(
    view,
    running.filter((id) => told.some((text) => text.includes(quoted(id)))),
  );
}

/**
 * Does the work of one session go on in the other? After a clear of ours, and after the way back from it. null: which
 * session will have the agent is not decided before the handoff has resumed or is over.
 */
export function isSameWork(
  running: Handoff | null,
  over: readonly Handoff[],
  from: string,
  to: string,
): boolean | null {
  const isDecided = running === null || ['resumed', 'confirmed'].includes(stepOf(running));
  if (!isDecided && [running.oldSession, running.newSession].includes(from)) return null;
  const all = running === null ? over : [...over, running];
  return all.some(({ oldSession, newSession }) => {
    const both = [oldSession, newSession];
    return newSession !== null && both.includes(from) && both.includes(to);
  });
}
