import { definitionOf } from '../detect/checks.ts';
import type { Incident } from '../model/incident.ts';
import type { NextStep } from './policy.ts';
import { waitWords } from './wait-words.ts';

/** What comes next about a trouble, in the few words that a table has room for. */
export interface Outlook {
  what: string;
  /** When; null: as soon as it can be, or never. */
  atMs: number | null;
}

export function outlookOf(incident: Pick<Incident, 'check' | 'tells'>, step: NextStep): Outlook {
  const isContinue = definitionOf(incident.check).ladder.template === 'continue';
  const prompt = isContinue ? 'continue' : 'prompt';
  if (step.do === 'prompt') return { what: `${prompt} now`, atMs: null };
  if (step.do === 'tell') return { what: 'you are told now', atMs: null };
  const { for: wanted, reason, untilMs } = step;
  if (reason === 'out-of-sight') return { what: 'not seen any more', atMs: null };
  if (wanted === 'prompt')
    return untilMs === null
      ? { what: `${prompt} waits: ${waitWords(reason)}`, atMs: null }
      : { what: prompt, atMs: untilMs };
  const told = incident.tells > 0 ? 'you were told' : null;
  if (wanted === 'tell') {
    if (untilMs !== null) return { what: told === null ? 'you are told' : `${told}, again`, atMs: untilMs };
    return { what: `${told ?? 'message'} waits: ${waitWords(reason)}`, atMs: null };
  }
  return { what: reason === 'told' ? 'you were told' : waitWords(reason), atMs: null };
}
