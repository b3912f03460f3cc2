/** Background work: subagents, background shells, and what `spawn-track` names. */

export const spawnStatuses = ['running', 'stalled', 'failed', 'finished', 'abandoned'] as const;
export type SpawnStatus = (typeof spawnStatuses)[number];

/** Who told of it: the client's own record, or somebody through `spawn-track` or a row of their own. */
export type SpawnSource = 'client' | 'tracked';

export interface SpawnEnd<Text = string> {
  /** `stopped`: on purpose, by the agent, a person or the client when it was closed. */
  how: 'finished' | 'failed' | 'stopped';
  atMs: number;
  text: Text | null;
}

/** What the client's record says of work it started. */
export interface SpawnedWork<Text = string> {
  id: string;
  kind: 'subagent' | 'shell';
  /** What kind of work: the subagent's type, the command's name. */
  label: Text | null;
  description: Text | null;
  sinceMs: number;
  /** Where its output goes, as the record has it. */
  output: string | null;
}

/** One piece of an agent's background work at one moment, from all its own records. */
export interface SpawnSign extends SpawnedWork {
  /** A tool call of its own has no result yet: it runs, or it waits for a permission. */
  callOpen: boolean;
  /** Its own record ends with an error of the service. */
  error: string | null;
}

/** All that an agent's own records say of its background work. */
export interface SpawnSigns {
  sessionId: string | null;
  works: SpawnSign[];
  /** By id; also of work that an earlier session began. */
  ends: ReadonlyMap<string, SpawnEnd>;
  /** Where the subagents of the present session write. */
  subagentFolder: string | null;
}

/** A spawn as its row. */
export interface SpawnRow {
  /** The row's own number; null for one that is not stored yet. */
  id: number | null;
  host: string | null;
  agent: string | null;
  project: string;
  taskId: string;
  taskType: string | null;
  source: SpawnSource;
  sessionId: string | null;
  label: string | null;
  description: string | null;
  output: string | null;
  spawnedAtMs: number;
  lastOutputMs: number | null;
  status: SpawnStatus;
  /** Why it has this status, where that needs a word. */
  reason: string | null;
  endedAtMs: number | null;
}

export interface StoredSpawn extends SpawnRow {
  /** The status Watchkeeper last saw: another one was set by somebody else meanwhile. */
  noticed: SpawnStatus | null;
  /** It was seen to fail, but the trouble about it did not come on record. */
  isUnopened: boolean;
}
