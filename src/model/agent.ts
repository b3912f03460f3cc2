import type { CheckName } from './check.ts';
import type { UsageLimit } from './hook.ts';
import type { ProcessId } from './world.ts';

export type State = 'working' | 'idle' | 'waiting' | 'retrying' | 'limited' | 'compacting' | 'ended' | 'unknown';

export type Detail =
  | 'thinking'
  | 'tool'
  | 'subagent'
  | 'api-stall'
  | 'permission'
  | 'question'
  | 'setup'
  | 'dialog'
  | 'suspended'
  | 'unreadable';

/** Where a fact came from, best first. */
export type Source = 'hook' | 'registry' | 'transcript' | 'statusline' | 'screen' | 'process';

export type Authority = 'observe' | 'nudge' | 'manage';
export type Mode = 'act' | 'watch';
/** The name of its folder in `src/clients`. */
export type ClientName = string;
export type TurnEnd = 'ok' | 'failed' | 'interrupted';

/** What the client itself says it is doing. */
export type RegistryActivity =
  | 'idle'
  | 'busy'
  | 'shell'
  | 'waiting-permission'
  | 'waiting-question'
  | 'waiting-dialog'
  /** A status this reader does not know, or none yet. */
  | 'unclear';

/** One judgement of what an agent is doing, with what it rests on. */
export interface StateReading {
  state: State;
  detail: Detail | null;
  /** Epoch milliseconds at which the state began, as the source has it. */
  sinceMs: number;
  source: Source;
  confidence: number;
  /** When the source last said so. */
  seenAtMs: number;
  tool: string | null;
}

export interface ContextReading {
  used: number;
  window: number;
  /** What the client really lets one use before it refuses prompts. */
  usable: number;
  percent: number;
  source: Source;
  atMs: number;
}

/** The band of the context an agent stays in: a wobble around an edge is one stay. */
export interface BandStay {
  /** From 0, the emptiest. */
  index: number;
  sinceMs: number;
}

/** What one source says of the context, on its own scale. */
export interface ContextSign {
  source: Source;
  percent: number;
  /** Of the whole window, or of the part the client lets one use. */
  scale: 'window' | 'usable';
  used: number | null;
  atMs: number;
}

/** One source by itself. */
export interface SourceSign {
  source: Source;
  /** `absent`: not set up or nothing yet; `off`: not asked. */
  health: 'ok' | 'failing' | 'absent' | 'off';
  reason: string | null;
  atMs: number | null;
  /** What the state would be by this source alone. */
  readonly alone: Pick<StateReading, 'state' | 'detail' | 'tool'> | null;
}

export interface BackgroundWork {
  kind: 'subagent' | 'shell';
  id: string;
  sinceMs: number;
  /** What it runs now, where its own record tells. */
  tool: string | null;
}

interface TmuxPlace {
  socket: string;
  session: string;
  pane: string;
}

export interface FindingEvidence {
  /** Of background work also its output, or what somebody told `spawn-track`; of what we did ourselves, our own word. */
  source: Source | 'output' | 'spawn-track' | 'watchkeeper';
  atMs: number;
  text: string;
}

export interface Finding {
  id: string;
  check: CheckName;
  /** What of the agent it is about, such as one spawn; null: the agent itself. */
  subject: string | null;
  severity: 'warning' | 'critical';
  confidence: number;
  sinceMs: number;
  evidence: FindingEvidence[];
  action: string | null;
  /** What a prompt about it says, by the names of the template's slots. */
  slots: Readonly<Record<string, string | number>> | null;
  /** Seen now; out of sight for a moment; or of a check that came and went too often. Only what is seen is acted on. */
  standing: 'seen' | 'kept' | 'quarantined';
}

/** A request that was refused and is being tried again, by the status on record. */
export interface RefusedRequest {
  status: number;
  /** In a row, and of this kind. */
  times: number;
  sinceMs: number;
}

/** Everything known about an agent at one moment: what `status` shows and the store keeps. */
export interface AgentView {
  agent: string;
  project: string;
  client: ClientName;
  clientVersion: string | null;
  host: string;
  authority: Authority;
  cwd: string | null;
  tmux: TmuxPlace | null;
  process: ProcessId;
  sessionId: string | null;
  transcript: string | null;
  startedAtMs: number;
  reading: StateReading;
  model: string | null;
  context: ContextReading | null;
  contexts: ContextSign[];
  band: BandStay | null;
  /** How much of the account's allowance is used, where the status line tells. */
  limits: UsageLimit[];
  sources: SourceSign[];
  costUsd: number | null;
  lastActivityMs: number | null;
  lastTurn: TurnEnd | null;
  lastTurnAtMs: number | null;
  /** A newer one is open on record, whatever the state says: its end may just not be written yet. */
  turnIsOpen: boolean;
  error: string | null;
  /** The client's own word for the kind of the last turn's error. */
  errorKind: string | null;
  /** Its work was given up after an error and was not taken up again since, whatever else it did. */
  stopped: { sinceMs: number; error: string | null; errorKind: string | null } | null;
  /** Until then its client waits out a usage limit and goes on by itself; null: it does not. */
  limitedUntilMs: number | null;
  /** null: none is, or its client does not record it. */
  refused: RefusedRequest | null;
  /** How it ended, where that was not by being closed at its prompt. */
  endedBadly: string | null;
  background: BackgroundWork[];
  findings: Finding[];
}
