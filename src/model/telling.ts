import type { Action, ActionOutcome } from './action.ts';
import type { Incident } from './incident.ts';

/** A message to people, and what came of it; null: not known. */
interface Telling {
  action: Action;
  outcome: Omit<ActionOutcome, 'actionId'> | null;
}

/** What people were told about a trouble while no database was there to take it. */
export interface Told {
  incident: Incident;
  tellings: Telling[];
}
