import type { AgentOrHost, AgentRef } from './agent-ref.ts';
import type { CheckName } from './check.ts';
import type { UsageLimit } from './hook.ts';
import type { ProcessId } from './world.ts';

export const states = ['working', 'idle', 'waiting', 'retrying', 'limited', 'compacting', 'ended', 'unknown'] as const;
export type State = (typeof states)[number];

export const details = [
  'thinking',
  'tool',
  'subagent',
  'api-stall',
  'permission',
  'question',
  'setup',
  'dialog',
  'suspended',
  'unreadable',
] as const;
export type Detail = (typeof details)[number];

/** Where a fact came from, best first. */
export type Source = 'hook' | 'registry' | 'transcript' | 'statusline' | 'screen' | 'process';

/** Of a figure of the context: also the agent's own answer, where nobody else tells and we asked it, and last what another program wrote into `ps_sessions`. */
export type ContextSource = Source | 'answer' | 'ps_sessions';

/** What a source tells. Each can be left out by itself, in a version of the client that tells it wrongly. */
export const sourceFacts = [
  'turns',
  'tools',
  'subagents',
  'dialogs',
  'retries',
  'stalls',
  'compaction',
  'limits',
  'context',
] as const;
export type SourceFact = (typeof sourceFacts)[number];
export type OffFacts = ReadonlyMap<Source, ReadonlySet<SourceFact>>;

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
  readonly state: State;
  readonly detail: Detail | null;
  /** Epoch milliseconds at which the state began, as the source has it. */
  readonly sinceMs: number;
  readonly source: Source;
  readonly confidence: number;
  /** When the source last said so. */
  readonly seenAtMs: number;
  readonly tool: string | null;
}

/** What a waiting agent wants from a person: as the best source has it, made safe and cut. */
export interface Ask {
  readonly tool: string | null;
  readonly text: string | null;
  readonly source: 'hook' | 'transcript' | 'screen';
}

export interface ContextReading {
  used: number;
  window: number;
  /** What the client really lets one use before it refuses prompts. */
  usable: number;
  percent: number;
  source: ContextSource;
  atMs: number;
}

/** What another program wrote of the context of one session. */
export interface ContextReport {
  sessionId: string | null;
  /** From 0 to 1. */
  usage: number;
  tokens: number | null;
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
  source: ContextSource;
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
  source: ContextSource | 'output' | 'spawn-track' | 'watchkeeper';
  atMs: number;
  text: string;
}

/** What is wrong, as whoever finds it says. */
export interface Found {
  readonly check: CheckName;
  /** What of the agent it is about, such as one spawn; null: the agent itself. */
  readonly subject: string | null;
  readonly severity: 'warning' | 'critical';
  readonly confidence: number;
  readonly sinceMs: number;
  readonly evidence: readonly FindingEvidence[];
  readonly action: string | null;
  /** What a prompt about it says, by the names of the template's slots. */
  readonly slots: Readonly<Record<string, string | number>> | null;
}

/** A trouble as it stands on the board. */
export interface Finding extends Found {
  /** The same for as long as the trouble lasts. */
  readonly id: string;
  /**
   * Seen now; out of sight for a moment; open, though nobody finds it now; or of a check that came and went too often. Only
   * what is seen is acted on.
   */
  readonly standing: 'seen' | 'kept' | 'open' | 'quarantined';
  /** How often its agent was prompted about it, and people were told. */
  readonly prompts: number;
  readonly tells: number;
  readonly ackedMs: number | null;
}

/** A trouble of an agent, or of the host or a project where no agent is concerned. */
export interface FoundTrouble extends AgentOrHost {
  project: string;
  finding: Found;
}

/** One that is no agent's, on the board. */
export interface LooseFinding {
  host: string;
  project: string;
  finding: Finding;
}

/** A request that was refused and is being tried again, by the status on record. */
export interface RefusedRequest {
  status: number;
  /** In a row, and of this kind. */
  times: number;
  sinceMs: number;
}

/** All that is seen of an agent at one moment: what the store keeps. A later moment has a sighting of its own. */
export interface Sighting extends AgentRef {
  readonly project: string;
  readonly client: ClientName;
  readonly clientVersion: string | null;
  readonly authority: Authority;
  readonly cwd: string | null;
  readonly tmux: TmuxPlace | null;
  readonly process: ProcessId;
  readonly sessionId: string | null;
  readonly transcript: string | null;
  readonly startedAtMs: number;
  readonly reading: StateReading;
  /** null: it does not wait for anybody, or no source says what for. */
  readonly asks: Ask | null;
  readonly model: string | null;
  readonly context: ContextReading | null;
  readonly contexts: readonly ContextSign[];
  readonly band: BandStay | null;
  /** How much of the account's allowance is used, where the status line tells. */
  readonly limits: readonly UsageLimit[];
  readonly sources: readonly SourceSign[];
  readonly costUsd: number | null;
  readonly lastActivityMs: number | null;
  readonly lastTurn: TurnEnd | null;
  readonly lastTurnAtMs: number | null;
  /** A newer one is open on record, whatever the state says: its end may just not be written yet. */
  readonly turnIsOpen: boolean;
  readonly error: string | null;
  /** The client's own word for the kind of the last turn's error. */
  readonly errorKind: string | null;
  /** Its work was given up after an error and was not taken up again since, whatever else it did. */
  readonly stopped: { sinceMs: number; error: string | null; errorKind: string | null } | null;
  /** Until then its client waits out a usage limit and goes on by itself; null: it does not. */
  readonly limitedUntilMs: number | null;
  /** null: none is, or its client does not record it. */
  readonly refused: RefusedRequest | null;
  /** How it ended, where that was not by being closed at its prompt. */
  readonly endedBadly: string | null;
  readonly background: readonly BackgroundWork[];
}

/** What is seen of an agent, and what is wrong with it by the board: what `status` shows and the rules go by. */
export interface AgentView extends Sighting {
  readonly findings: readonly Finding[];
}
