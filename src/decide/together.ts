import { purposes } from '../detect/check.ts';
import { definitionOf } from '../detect/checks.ts';
import type { AgentView } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import type { Incident } from '../model/incident.ts';

/** More would be a list nobody works through; the rest is said the next time. */
const togetherMax = 5;

export function setsGoing(check: CheckName): boolean {
  return definitionOf(check).ladder.purpose === 'sets-going';
}

/** Its work stands still: an agent that is asked for something else then answers that, and goes on standing still. */
export function standsStill({ stopped, findings }: Pick<AgentView, 'stopped' | 'findings'>): boolean {
  return stopped !== null || findings.some(({ check, standing }) => setsGoing(check) && standing === 'seen');
}

function rank(check: CheckName): number {
  const { purpose } = definitionOf(check).ladder;
  return purpose === null ? purposes.length : purposes.indexOf(purpose);
}

/**
 * Of the troubles of one agent that are due to be said to it, those that are said now, as one prompt; the first leads.
 * None: what is due would not set its work going, and that comes first.
 */
export function saidTogether<T extends { incident: Incident }>(
  due: readonly T[],
  view: Pick<AgentView, 'stopped' | 'findings'>,
): T[] {
  const place = ({ incident }: T) => rank(incident.check);
  const ordered = due.toSorted((a, b) => place(a) - place(b) || a.incident.openedMs - b.incident.openedMs);
  const [first] = ordered;
  if (first === undefined || (standsStill(view) && !setsGoing(first.incident.check))) return [];
  return ordered.slice(0, togetherMax);
}
