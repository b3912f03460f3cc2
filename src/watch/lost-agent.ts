import type { AgentClient } from '../clients/client.ts';
import type { Sighting } from '../model/agent.ts';
import type { LeftOff } from '../sense/agent-follower.ts';
import type { SeenAgent } from '../sense/fleet.ts';

/** As it was last seen, where it was last seen. */
export function lostAgent(view: Sighting, client: AgentClient): SeenAgent {
  const none = { ppid: 0, uid: -1, command: '', runState: 'X', processGroup: 0, terminal: 0, terminalGroup: -1 };
  return { client, process: { ...view.process, ...none }, configDir: null, place: lastPlace(view) };
}

/** Which process was the pane's own is not on record. */
export function lastPlace({ tmux }: Sighting): SeenAgent['place'] {
  if (tmux === null) return null;
  const { socket, session, pane: id } = tmux;
  return { socket, pane: { id, session, windowIndex: 0, paneIndex: 0, pid: 0, dead: true } };
}

export function leftOff(view: Sighting): LeftOff | null {
  const { sessionId, cwd, transcript, startedAtMs } = view;
  return sessionId === null ? null : { sessionId, cwd, transcript, startedAtMs };
}
