import { ownAct } from '../clients/acts.ts';
import type { RegistryEntry, ScreenReading } from '../clients/client.ts';
import { allTools } from '../clients/clients.ts';
import type { Detail, Source, State, StateReading, TurnEnd } from '../model/agent.ts';
import type { HookFacts } from './hooks.ts';
import { type Activity, freshScreen, inferActivity, isQuestion } from './infer.ts';
import type { SessionFacts } from './session.ts';

export interface ScreenSigns {
  reading: ScreenReading | null;
  sinceMs: number;
  atMs: number;
  /** When the row of the turn was last seen to change, and when what it counts. */
  drawnMs: number | null;
  countedMs: number | null;
}

/** Everything the sensors know of one agent at one moment. */
export interface AgentSigns {
  nowMs: number;
  alive: boolean;
  /** When the process was last seen, or found gone. */
  processSeenAtMs: number;
  /** Stopped with Ctrl-Z: it would read nothing that is typed. */
  suspended: boolean;
  registry: { entry: RegistryEntry; seenAtMs: number } | null;
  session: { facts: SessionFacts; seenAtMs: number } | null;
  /** null: no hook of this session has been heard. */
  hooks: HookFacts | null;
  /** The last picture of its pane, since when it shows the same, and when it was taken; null reading: no rule knows it. */
  screen: ScreenSigns | null;
  /** A subagent's own record grew at this time, by the subagent's id. */
  subagents: ReadonlyMap<string, { lastActivityMs: number; tool: string | null; finished: boolean }>;
  /** Its client has neither registry nor hooks: what it does is known from its record and screen. */
  recordIsAll?: boolean;
  /** When someone last asked for a compaction by hand. */
  compactAskedMs: number | null;
  /** The share of the usable context in use, 0 to 1. */
  contextShare: number | null;
}

/** The client continues by itself up to 91 s after the reset (seen): until twice that has passed it is left to it. */
const limitGraceMs = 180_000;
/** Registry and transcript are written within half a second of each other; a longer lead means one of them is stuck. */
const leadMs = 3_000;
/** The client's longest pause between two attempts, with room: after that the last attempt is being answered. */
const retryPauseMs = 45_000;
/** A request is on record a tenth of a second after it went out; after this long without one, none went out. */
const requestSettleMs = 1_000;
/** A turn that ended is on record a second after the client got idle; one still open then was taken back. */
const takenBackMs = 2_500;
/** The client compacts by itself only when the context is rather full. */
const autoCompactShare = 0.5;

/** One judgement from all signs: structured beats inferred, newer beats older. */
export function judgeState(signs: AgentSigns): StateReading {
  if (!signs.alive) return reading('ended', null, signs.processSeenAtMs, 'process', 1, signs.processSeenAtMs);
  if (signs.suspended)
    return reading('unknown', 'suspended', signs.processSeenAtMs, 'process', 0.9, signs.processSeenAtMs);
  const activity = registryActivity(signs) ?? inferActivity(signs);
  if (activity !== null) return judgeActivity(signs, activity);
  return reading('unknown', 'unreadable', signs.processSeenAtMs, 'process', 0.3, signs.processSeenAtMs);
}

/** What one source says when the others are silent: shows how far each can be trusted, and what is lost without it. */
export function judgeAlone(signs: AgentSigns, source: Source): StateReading | null {
  const alone: AgentSigns = {
    ...signs,
    registry: source === 'registry' ? signs.registry : null,
    session: source === 'transcript' ? signs.session : null,
    compactAskedMs: source === 'transcript' ? signs.compactAskedMs : null,
    hooks: source === 'hook' ? signs.hooks : null,
    screen: source === 'screen' ? signs.screen : null,
    subagents: source === 'transcript' ? signs.subagents : new Map(),
  };
  const judged = judgeState(alone);
  return judged.source === 'process' && source !== 'process' ? null : judged;
}

function registryActivity(signs: AgentSigns): Activity | null {
  const { registry } = signs;
  if (registry === null) return null;
  const { entry, seenAtMs } = registry;
  if (entry.activity === 'unclear') return null;
  const doing = entry.activity === 'shell' ? 'idle' : entry.activity;
  const sinceMs = entry.sinceMs ?? entry.startedAtMs ?? seenAtMs;
  return { doing, sinceMs, seenAtMs, source: 'registry', confidence: 0.95 };
}

function judgeActivity(signs: AgentSigns, activity: Activity): StateReading {
  const { sinceMs, seenAtMs, confidence } = activity;
  const facts = signs.session?.facts ?? null;
  const say = (state: State, detail: Detail | null, since = sinceMs, source: Source = activity.source) =>
    reading(state, detail, since, source, confidence, seenAtMs);
  switch (activity.doing) {
    case 'waiting-permission':
      // The plan dialog calls itself a permission, but asks a question.
      return say('waiting', asksQuestion(signs) ? 'question' : 'permission');
    case 'waiting-question':
      return say('waiting', 'question');
    case 'waiting-setup':
      return say('waiting', 'setup');
    case 'waiting-dialog':
      return limitedSince(signs) !== null ? say('limited', null) : say('waiting', 'dialog');
    case 'idle': {
      const limited = limitedSince(signs);
      if (limited !== null) return say('limited', null, limited, 'transcript');
      if (freshScreen(signs)?.reading.shows === 'limited') return say('limited', null, sinceMs, 'screen');
      // The transcript went on after the registry fell silent: it is the newer word.
      const later = facts?.turn === 'open' && (facts.lastActivityMs ?? 0) > sinceMs + leadMs;
      return later && activity.source === 'registry'
        ? judgeBusy(signs, { ...activity, source: 'transcript', confidence: 0.6 })
        : say('idle', null, idleSince(facts, sinceMs));
    }
    case 'busy':
      return judgeBusy(signs, activity);
  }
}

/** A turn that was over before the registry told of it is in the record: it has been idle since that turn's end. */
function idleSince(facts: SessionFacts | null, sinceMs: number): number {
  const endedMs = facts?.turn === 'closed' ? (facts.lastTurnAtMs ?? 0) : 0;
  return endedMs > sinceMs + leadMs ? endedMs : sinceMs;
}

/** Busy says that something runs; transcript and hooks say what, and the screen says what neither of them records. */
function judgeBusy(signs: AgentSigns, activity: Activity): StateReading {
  const { sinceMs, seenAtMs, confidence } = activity;
  const facts = signs.session?.facts ?? null;
  // What the transcript says is as old as its last reading: the file may have become unreadable.
  const toldAtMs = Math.min(seenAtMs, signs.session?.seenAtMs ?? seenAtMs);
  const busy = (detail: Detail, since: number, source: Source, tool: string | null = null): StateReading => ({
    ...reading('working', detail, since, source, confidence, source === 'transcript' ? toldAtMs : seenAtMs),
    tool,
  });
  const less = (most: number) => Math.min(most, confidence);
  const hooks = signs.hooks;
  const hookedSince = compactingByHook(signs, activity);
  if (hookedSince !== null) return reading('compacting', null, hookedSince, 'hook', less(0.95), seenAtMs);
  const compactingSince = facts === null || hooks !== null ? null : compacting(signs, facts, sinceMs);
  if (compactingSince !== null) return reading('compacting', null, compactingSince, 'transcript', less(0.8), toldAtMs);
  const onScreen = busyOnScreen(signs);
  if (onScreen !== null) return onScreen;
  const retryingSince = facts === null ? null : retrying(signs, facts);
  if (retryingSince !== null) return reading('retrying', null, retryingSince, 'transcript', less(0.85), toldAtMs);
  const open = openActivity(signs, facts);
  if (open !== null) {
    const told = busy(open.detail, open.sinceMs, open.source, open.tool);
    // In the transcript alone a call that waits for a permission looks like one that runs.
    const unsure = activity.source === 'transcript' && open.detail === 'tool' && freshScreen(signs) === null;
    return unsure ? { ...told, confidence: less(0.5) } : told;
  }
  const thinking = busy('thinking', Math.max(sinceMs, facts?.lastStepMs ?? 0), activity.source);
  return facts === null && hooks === null ? { ...thinking, confidence: less(0.7) } : thinking;
}

/** Retries, stalls and compactions have rows of their own, which are drawn as long as they last. */
function busyOnScreen(signs: AgentSigns): StateReading | null {
  const screen = freshScreen(signs);
  if (screen === null || screen.atMs < (signs.session?.facts.lastActivityMs ?? 0)) return null;
  const say = (state: State, detail: Detail | null) =>
    reading(state, detail, screen.sinceMs, 'screen', 0.8, screen.atMs);
  switch (screen.reading.shows) {
    case 'retrying':
      return say('retrying', null);
    case 'api-stall':
      return say('working', 'api-stall');
    case 'compacting':
      return say('compacting', null);
    default:
      return null;
  }
}

/** A compaction that was broken off has no hook for its end: what began after it, or a request to the model, ends it. */
function compactingByHook(signs: AgentSigns, activity: Activity): number | null {
  const sinceMs = signs.hooks?.compactingSinceMs ?? null;
  if (sinceMs === null || activity.sinceMs > sinceMs + requestSettleMs) return null;
  const { lastRequestMs, compactedAtMs } = signs.session?.facts ?? { lastRequestMs: null, compactedAtMs: null };
  return Math.max(lastRequestMs ?? 0, compactedAtMs ?? 0) > sinceMs + requestSettleMs ? null : sinceMs;
}

/**
 * Compaction leaves no record until it is over. By hand: the command for it is the last thing typed and the client got busy
 * with it. By itself: within an open turn the model's next request does not come, and the context is rather full.
 */
function compacting(signs: AgentSigns, facts: SessionFacts, busySinceMs: number): number | null {
  const asked = signs.compactAskedMs;
  if (asked !== null && facts.turn !== 'open' && asked >= busySinceMs - leadMs && asked > (facts.compactedAtMs ?? 0)) {
    return Math.max(asked, facts.lastTurnAtMs ?? 0);
  }
  const step = facts.lastStepMs;
  if (facts.turn !== 'open' || facts.calls.size > 0 || step === null || facts.lastRequestMs === null) return null;
  if (facts.lastRequestMs >= step || signs.nowMs - step < requestSettleMs) return null;
  return (signs.contextShare ?? 0) >= autoCompactShare ? step : null;
}

/** The same request again without a reply: the one before failed. Older versions say so in words. */
function retrying(signs: AgentSigns, facts: SessionFacts): number | null {
  if (facts.retry !== null && signs.nowMs < facts.retry.untilMs + leadMs) return facts.lastActivityMs;
  const request = facts.request;
  if (facts.turn !== 'open' || request === null || request.attempts < 2) return null;
  return signs.nowMs - request.atMs < retryPauseMs ? (facts.lastStepMs ?? request.atMs) : null;
}

function asksQuestion(signs: AgentSigns): boolean {
  if (signs.hooks?.permission) return isQuestion(signs.hooks.permission.tool);
  const calls = signs.session?.facts.calls.values() ?? [];
  return [...calls].some((call) => isQuestion(call.tool));
}

interface OpenActivity {
  detail: 'tool' | 'subagent';
  sinceMs: number;
  tool: string | null;
  source: Source;
}

function openActivity(signs: AgentSigns, facts: SessionFacts | null): OpenActivity | null {
  const hooks = signs.hooks;
  // Hooks miss the end of an interrupted call: theirs count while the turn they belong to is the one that runs.
  const hookCalls = hooks?.turn === 'open' && hooks.lastAtMs >= (facts?.lastTurnAtMs ?? 0) ? hooks.calls : null;
  const call = latest(facts?.calls, 'transcript') ?? latest(hookCalls ?? undefined, 'hook');
  if (call !== null) return call;
  if (facts === null && hooks === null) return onScreenAlone(signs);
  if ((facts?.turn ?? hooks?.turn) === 'open') return null;
  const sinceMs = earliestSubagent(signs, facts);
  const source = facts === null ? 'hook' : 'transcript';
  return sinceMs === null ? null : { detail: 'subagent', sinceMs, tool: null, source };
}

/** With no record at all, the rows of the screen have to do. */
function onScreenAlone(signs: AgentSigns): OpenActivity | null {
  const screen = freshScreen(signs);
  if (screen === null) return null;
  const { tool, subagents } = screen.reading;
  if (tool !== null) return { detail: 'tool', sinceMs: screen.sinceMs, tool, source: 'screen' };
  return (subagents ?? 0) > 0 ? { detail: 'subagent', sinceMs: screen.sinceMs, tool: null, source: 'screen' } : null;
}

function latest(
  calls: ReadonlyMap<string, { tool: string; sinceMs: number }> | undefined,
  source: Source,
): OpenActivity | null {
  let last: { tool: string; sinceMs: number } | null = null;
  for (const call of calls?.values() ?? []) if (last === null || call.sinceMs >= last.sinceMs) last = call;
  if (last === null) return null;
  return { detail: isSubagentTool(last.tool) ? 'subagent' : 'tool', sinceMs: last.sinceMs, tool: last.tool, source };
}

export function isSubagentTool(tool: string): boolean {
  return ownAct(tool, allTools) === 'delegate';
}

function earliestSubagent(signs: AgentSigns, facts: SessionFacts | null): number | null {
  let earliest: number | null = null;
  const take = (sinceMs: number) => {
    if (earliest === null || sinceMs < earliest) earliest = sinceMs;
  };
  for (const work of facts?.background.values() ?? []) {
    if (work.kind === 'subagent' && signs.subagents.get(work.id)?.finished !== true) take(work.sinceMs);
  }
  if (facts === null) for (const sinceMs of signs.hooks?.subagents.values() ?? []) take(sinceMs);
  return earliest;
}

function limitedSince(signs: AgentSigns): number | null {
  const untilMs = limitedUntil(signs);
  return untilMs !== null && signs.nowMs < untilMs ? (signs.session?.facts.errorAtMs ?? signs.nowMs) : null;
}

/** How long its client may take to go on by itself after a usage limit, whatever the state says; null: it is at none. */
export function limitedUntil({ session }: AgentSigns): number | null {
  if (session === null || session.facts.turn === 'open' || session.facts.limitResetsAtMs === null) return null;
  return session.facts.limitResetsAtMs + limitGraceMs;
}

function reading(
  state: State,
  detail: Detail | null,
  sinceMs: number,
  source: Source,
  confidence: number,
  seenAtMs: number,
): StateReading {
  return { state, detail, sinceMs, source, confidence, seenAtMs, tool: null };
}

export interface LastTurn {
  end: TurnEnd | null;
  atMs: number | null;
  /** A newer one has begun. */
  isOpen: boolean;
}

/** How the last turn ended. A prompt taken back before any answer leaves no record of its end, only an idle client. */
export function lastTurn(signs: AgentSigns, now: StateReading): LastTurn {
  const facts = signs.session?.facts;
  if (facts === undefined) return lastTurnByHooks(signs);
  const isOpen = facts.turn === 'open';
  const takenBack =
    isOpen &&
    now.state === 'idle' &&
    now.sinceMs >= (facts.lastActivityMs ?? 0) &&
    signs.nowMs - now.sinceMs > takenBackMs;
  if (takenBack) return { end: 'interrupted', atMs: now.sinceMs, isOpen: false };
  return { end: facts.lastTurn, atMs: facts.lastTurnAtMs, isOpen };
}

function lastTurnByHooks({ hooks }: AgentSigns): LastTurn {
  if (hooks?.turn !== 'closed' || hooks.turns === 0) return { end: null, atMs: null, isOpen: hooks?.turn === 'open' };
  return { end: hooks.failed === null ? 'ok' : 'failed', atMs: hooks.turnAtMs, isOpen: false };
}
