import type { Action, ActionOutcome } from './action.ts';
import type { Authority, ContextReport, ContextSource, Sighting } from './agent.ts';
import type { AgentRef } from './agent-ref.ts';
import type { AgingRows, ClockMark } from './aging.ts';
import type { AnsweredPrompts, Deeds, RulePrompt } from './deeds.ts';
import type { Json, WatchEvent } from './event.ts';
import type { Handoff, HandoffAction, HandoffChange, HandoffStep, HandoffStepTaken, OddHandoff } from './handoff.ts';
import type { HookFact } from './hook.ts';
import type { HostEntry, HostStanding } from './host.ts';
import type { Incident } from './incident.ts';
import type { Result } from './result.ts';
import type { Score } from './score.ts';
import type { SpawnRow, SpawnSource, StoredSpawn } from './spawn.ts';
import type { Told } from './telling.ts';

export interface SessionRow {
  agent: string;
  sessionId: string;
  transcript: string | null;
  /** How far the transcript is recorded: the events below it are in the store. */
  recorded: { inode: string; offset: number } | null;
  model: string | null;
  contextUsed: number | null;
  startedAtMs: number;
  lastActivityMs: number | null;
  endedAtMs: number | null;
}

/** One figure of a session's context: there is one whenever it changes. */
export interface ContextPoint {
  agent: string;
  sessionId: string;
  atMs: number;
  used: number;
  window: number;
  usable: number;
  source: ContextSource;
  /** When the turn began in which it was said. */
  turnAtMs: number | null;
  /** What set off the client's compaction that led to this figure; null: none did. */
  compacted: string | null;
  usedBefore: number | null;
}

export interface CheckRow {
  agent: string | null;
  project: string;
  atMs: number;
  type: string;
  status: 'ok' | 'warning' | 'critical' | 'unknown';
  details: { [key: string]: Json };
  /** What was done, where the row comes after it; null: the ledger's outcomes will say. */
  taken?: string | null;
}

/** What one flush writes, all or nothing. */
export interface StoreBatch {
  agents: Sighting[];
  sessions: SessionRow[];
  events: WatchEvent[];
  spawns: SpawnRow[];
  points: ContextPoint[];
  checks: CheckRow[];
}

export function emptyBatch(): StoreBatch {
  return { agents: [], sessions: [], events: [], spawns: [], points: [], checks: [] };
}

/** What an earlier run left behind of an agent; the view's transcript is that of its last session. */
export interface StoredAgent {
  view: Sighting;
  /** By session id: how far its transcript is recorded. */
  recorded: Map<string, { inode: string; offset: number }>;
  /** The last hooks of its last session, the oldest first: their files are gone. */
  hooks: { atMs: number; subagent: string | null; fact: HookFact }[];
}

/** `subject`: null also where its incident is no longer on record. */
export interface RecentScore extends Score {
  subject: string | null;
}

export type StoreFailure = 'unavailable' | 'refused';

/** The database as the daemon needs it. */
export interface Store {
  write(host: string, batch: StoreBatch): Promise<Result<void, StoreFailure>>;
  load(host: string): Promise<Result<StoredAgent[], StoreFailure>>;
  /** Removes rows of one kind that are older than the given time, so many at most; how many went. */
  expire(host: string, rows: AgingRows, beforeMs: number, rowsMax: number): Promise<Result<number, StoreFailure>>;
  /** The oldest first. */
  clockMarks(host: string): Promise<Result<ClockMark[], StoreFailure>>;
  addClockMark(host: string, mark: ClockMark, keptMs: number): Promise<Result<void, StoreFailure>>;
  /** What this host wrote last, by its own clock; null: nothing yet. */
  newestRowMs(host: string): Promise<Result<number | null, StoreFailure>>;
  /** Before anything else is read or written under this host's id. */
  enterHost(host: HostEntry): Promise<Result<HostStanding, StoreFailure>>;
  /** It lives. */
  seeHost(host: string): Promise<Result<void, StoreFailure>>;
  /** The ledger: what is meant to be done, before it is done. Not written, not done. */
  intend(action: Action): Promise<Result<void, StoreFailure>>;
  /** What was said and is so: the row and its outcome, once, however often it comes. */
  storeWord(word: Action): Promise<Result<void, StoreFailure>>;
  /** Also into the check rows of what it was about. */
  conclude(outcome: ActionOutcome): Promise<Result<void, StoreFailure>>;
  /** Deeds without their last word: the daemon ended before it was known. `delivered`: that it was done, is. */
  openActions(host: string): Promise<Result<{ action: Action; delivered: boolean }[], StoreFailure>>;
  /** By finding: what was done about it. Of those that are not in it nothing was. */
  deedsAbout(findings: readonly string[]): Promise<Result<Map<string, Deeds>, StoreFailure>>;
  /** The last prompt of each rule to each agent after the given time. */
  lastRulePrompts(host: string, afterMs: number): Promise<Result<RulePrompt[], StoreFailure>>;
  /** Of the last day. */
  answeredPrompts(host: string, nowMs: number, answerMs: number): Promise<Result<AnsweredPrompts, StoreFailure>>;
  /** Spawns that are not over, and those that ended after the given time. */
  loadSpawns(
    host: string,
    endedAfterMs: number,
    only: SpawnSource | null,
  ): Promise<Result<StoredSpawn[], StoreFailure>>;
  saveIncident(incident: Incident): Promise<Result<void, StoreFailure>>;
  /** What people were told without a database; `anyway`: also of an agent that is not on record. */
  storeTold(told: Told, anyway: boolean): Promise<Result<'stored' | 'no-agent', StoreFailure>>;
  openIncidents(host: string): Promise<Result<Incident[], StoreFailure>>;
  /** A later word on the same incident replaces an earlier one, but for a person's denial. */
  saveScore(score: Score): Promise<Result<void, StoreFailure>>;
  /** What ended after the given time, the oldest first. */
  recentScores(host: string, afterMs: number): Promise<Result<RecentScore[], StoreFailure>>;
  /** What other programs wrote of the contexts of agents, by their names. */
  contextReports(host: string): Promise<Result<Map<string, ContextReport>, StoreFailure>>;
  saveAuthority(agent: AgentRef, authority: Authority): Promise<Result<void, StoreFailure>>;
  loadAuthorities(host: string): Promise<Result<Map<string, Authority>, StoreFailure>>;
  beginHandoff(handoff: Handoff): Promise<Result<void, StoreFailure>>;
  /** From the step it stands at, with all that changes by it, or not at all. */
  takeHandoffStep(
    id: string,
    from: HandoffStep,
    taken: HandoffStepTaken,
    change: HandoffChange,
  ): Promise<Result<void, StoreFailure>>;
  /** Those requested after the given time and those still open, oldest first. */
  loadHandoffs(host: string, afterMs: number): Promise<Result<Handoff[], StoreFailure>>;
  /** Open ones that are left out: while they are there no other one of their agent can begin. */
  oddHandoffs(host: string): Promise<Result<OddHandoff[], StoreFailure>>;
  /** Such a one has failed, by its id alone. */
  endOddHandoff(id: string, atMs: number): Promise<Result<void, StoreFailure>>;
  handoffActions(id: string): Promise<Result<HandoffAction[], StoreFailure>>;
  /** The document as it was stored. */
  handoffText(id: string): Promise<Result<string | null, StoreFailure>>;
  close(): Promise<void>;
}
