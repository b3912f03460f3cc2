import type { AgentView } from '../model/agent.ts';
import type { Incident } from '../model/incident.ts';
import type { Ending } from '../model/score.ts';
import type { SpawnStatus } from '../model/spawn.ts';

/** Somebody did something to an agent, by its own record. */
export interface Act {
  atMs: number;
  /** Rules about these troubles; a person at the keyboard or by `prompt`; a handoff, or nobody knows. */
  by: { rules: readonly string[] } | 'person' | 'other';
  /** `joined`: taken in by a turn that ran already. */
  what: 'began-turn' | 'joined' | 'interrupted';
}

export interface EndFacts {
  /** null: it is not shown any more. */
  view: Pick<AgentView, 'reading' | 'lastTurn' | 'lastTurnAtMs'> | null;
  /** What was done to the agent, the oldest first. */
  acts: readonly Act[];
  /** How the work stands that it is about; null: it is about none. */
  spawn: SpawnStatus | null;
  denied: boolean;
}

/** From the record of a prompt to the moment at which its incident counts it. */
const provedWithinMs = 15_000;

/** How did this trouble come to its end? */
export function endingOf(incident: Incident, { view, acts, spawn, denied }: EndFacts): Ending {
  if (denied) return 'human-denied';
  if (incident.check === 'ended-unexpectedly') return 'agent-died';
  if (spawn !== null) return spawnEnding(incident, spawn);
  if (view === null) return incident.agent === null ? unattended(incident) : 'unseen';
  if (view.reading.state === 'ended') return 'agent-died';
  if (view.reading.state === 'unknown') return 'unseen';
  const since = acts.filter(({ atMs }) => atMs >= incident.openedMs);
  const endedWellMs = view.lastTurn === 'ok' ? (view.lastTurnAtMs ?? 0) : null;
  const act = incident.check === 'silent-stop' ? beganLastTurn(since, view.lastTurnAtMs) : firstOfPerson(since);
  if (act !== null) return byAct(act, incident, endedWellMs);
  // Dialogs do not close by themselves.
  if (incident.check === 'waiting-human') return 'human-answered';
  if (view.lastTurn === 'failed' && (view.lastTurnAtMs ?? 0) >= incident.openedMs) return 'failed';
  return since.length > 0 ? 'other-prompt' : unattended(incident);
}

function unattended({ ackedMs }: Incident): Ending {
  return ackedMs === null ? 'by-itself' : 'human-acked';
}

function byAct(act: Act, incident: Incident, endedWellMs: number | null): Ending {
  if (act.by === 'person') return act.what === 'interrupted' ? 'human-interrupted' : 'human-wrote';
  const isOurs = act.by === 'other' ? isAbout(incident, act) : act.by.rules.includes(incident.id);
  return isOurs && endedWellMs !== null && endedWellMs >= act.atMs ? 'prompt-helped' : 'other-prompt';
}

/** An earlier run typed it: the incident still knows when. */
function isAbout({ lastPromptMs }: Incident, { atMs }: Act): boolean {
  return lastPromptMs !== null && Math.abs(lastPromptMs - atMs) < provedWithinMs;
}

/** A prompt that joins a turn under way has not set it going. */
function beganLastTurn(acts: readonly Act[], turnAtMs: number | null): Act | null {
  return acts.findLast(({ what, atMs }) => what !== 'joined' && atMs <= (turnAtMs ?? 0)) ?? null;
}

function firstOfPerson(acts: readonly Act[]): Act | null {
  return acts.find(({ by }) => by === 'person') ?? null;
}

/** Of work that a prompt asked about, nobody knows whether the prompt or the work itself brought it on. */
function spawnEnding(incident: Incident, spawn: SpawnStatus): Ending {
  if (spawn === 'failed' || spawn === 'abandoned') return 'failed';
  return incident.prompts > 0 ? 'other-prompt' : unattended(incident);
}
