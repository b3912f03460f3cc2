import type { Examination } from '../detect/health.ts';
import { Holding, type Persistence, type Raised, type Standing } from '../detect/hold.ts';
import type { Found } from '../model/agent.ts';
import type { AgentOrHost } from '../model/agent-ref.ts';
import type { CheckName } from '../model/check.ts';
import type { Incident } from '../model/incident.ts';

/** Who finds something. Each says everything that it finds at a time: what it no longer says is no longer so. */
export type Finder = 'checks' | 'spawns' | 'handoffs' | 'panes' | 'host' | 'flapping';

/** Whose trouble it is. */
export type Whose = AgentOrHost & { readonly project: string };

/** What one finder says about one agent, or about what belongs to none. */
export interface Place extends Whose {
  readonly by: Finder;
  holding: Holding;
  raised: readonly Raised[];
  pending: Standing['pending'];
  /** Something will be found when its time is up. */
  isComing: boolean;
  /** Why the checks that found nothing found nothing. */
  fine: Examination['fine'];
}

/** How closely it is looked. */
export interface Looking {
  coming: readonly CheckName[];
  hold: (check: CheckName) => Persistence;
  /** Looks further apart than this are no continued watching. */
  gapMs: number;
}

export function newPlace(by: Finder, whose: Whose): Place {
  return { by, ...whose, holding: new Holding(), raised: [], pending: [], isComing: false, fine: [] };
}

/** What belongs to no agent is known by its project. */
export function nameOf({ agent, project }: Pick<Place, 'agent' | 'project'>): string {
  return agent ?? `\n${project}`;
}

/** What its row has kept of it. */
export function foundIn({ check, subject, severity, openedMs, text }: Incident): Found {
  const evidence = [{ source: 'watchkeeper' as const, atMs: openedMs, text }];
  return { check, subject, severity, confidence: 0.9, sinceMs: openedMs, evidence, action: null, slots: null };
}
