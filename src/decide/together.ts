import type { AgentView, CheckName } from '../model/agent.ts';
import type { Incident } from '../model/incident.ts';

/** What a prompt about a trouble is there for, the most urgent first. */
const purposes = ['sets-going', 'asks', 'notes'] as const;
type Purpose = (typeof purposes)[number];

/** A new check does not compile until it is said in which order it is spoken of; null: nothing is said to the agent. */
const purposeOf: Record<CheckName, Purpose | null> = {
  'silent-stop': 'sets-going',
  'stalled-turn': 'sets-going',
  'spawn-failed': 'asks',
  'spawn-abandoned': 'asks',
  'spawn-stalled': 'asks',
  'context-high': 'notes',
  'context-full': null,
  'waiting-human': null,
  'ended-unexpectedly': null,
  'no-answer': null,
  looping: null,
  'repeated-error': null,
  'no-progress': null,
  'edit-revert': null,
  'spawn-looks-failed': null,
  'spawns-failing': null,
  'orphaned-work': null,
  'auth-failed': null,
  'never-started': null,
  'mass-failure': null,
  'rate-limited': null,
  'completion-missing': null,
  repetition: null,
  'error-acceleration': null,
  'token-burn': null,
  'cost-spike': null,
  'low-cache': null,
  'low-efficiency': null,
  'cognitive-decay': null,
  entropy: null,
  'handoff-failed': null,
  'control-client': null,
  'database-away': null,
  'disk-full': null,
  'tmux-away': null,
  flapping: null,
};

/** More would be a list nobody works through; the rest is said the next time. */
const togetherMax = 5;

export function setsGoing(check: CheckName): boolean {
  return purposeOf[check] === 'sets-going';
}

/** Its work stands still: an agent that is asked for something else then answers that, and goes on standing still. */
export function standsStill({ stopped, findings }: Pick<AgentView, 'stopped' | 'findings'>): boolean {
  return stopped !== null || findings.some(({ check, standing }) => setsGoing(check) && standing === 'seen');
}

function rank(check: CheckName): number {
  const purpose = purposeOf[check];
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
