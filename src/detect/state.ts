import type { RegistryEntry } from '../clients/client.ts';
import type { Detail, Source, State, StateReading, TurnEnd } from '../model/agent.ts';
import type { SessionFacts } from './session.ts';

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
  /** A subagent's own record grew at this time, by the subagent's id. */
  subagents: ReadonlyMap<string, { lastActivityMs: number; tool: string | null; finished: boolean }>;
  /** When someone last asked for a compaction by hand. */
  compactAskedMs: number | null;
  /** The share of the usable context in use, 0 to 1. */
  contextShare: number | null;
}

/** The client continues by itself up to 91 s after the reset (seen); until then the limit still holds it. */
const limitGraceMs = 120_000;
/** Registry and transcript are written within half a second of each other; a longer lead means one of them is stuck. */
const leadMs = 3_000;
/** The client's longest pause between two attempts, with room: after that the last attempt is being answered. */
const retryPauseMs = 45_000;
/** A request is on record a tenth of a second after it went out; after this long without one, none went out. */
const requestSettleMs = 1_000;
/** The client compacts by itself only when the context is rather full. */
const autoCompactShare = 0.5;

/** One judgement from all signs: structured beats inferred, newer beats older. */
export function judgeState(signs: AgentSigns): StateReading {
  if (!signs.alive) return reading('ended', null, signs.processSeenAtMs, 'process', 1, signs.processSeenAtMs);
  if (signs.suspended)
    return reading('unknown', 'suspended', signs.processSeenAtMs, 'process', 0.9, signs.processSeenAtMs);
  const fromRegistry = signs.registry === null ? null : judgeRegistry(signs, signs.registry);
  if (fromRegistry !== null) return fromRegistry;
  const fromTranscript = signs.session === null ? null : judgeTranscript(signs, signs.session);
  if (fromTranscript !== null) return fromTranscript;
  return reading('unknown', 'unreadable', signs.processSeenAtMs, 'process', 0.3, signs.processSeenAtMs);
}

function judgeRegistry(signs: AgentSigns, registry: { entry: RegistryEntry; seenAtMs: number }): StateReading | null {
  const { entry, seenAtMs } = registry;
  const sinceMs = entry.sinceMs ?? entry.startedAtMs ?? seenAtMs;
  const facts = signs.session?.facts ?? null;
  const say = (state: State, detail: Detail | null, since = sinceMs, source: Source = 'registry') =>
    reading(state, detail, since, source, 0.95, seenAtMs);
  switch (entry.activity) {
    case 'waiting-permission':
      // The plan dialog calls itself a permission, but asks a question.
      return say('waiting', hasOpenCall(facts, 'ExitPlanMode') ? 'question' : 'permission');
    case 'waiting-question':
      return say('waiting', 'question');
    case 'waiting-dialog':
      return limitedSince(signs) !== null ? say('limited', null) : say('waiting', 'dialog');
    case 'shell':
    case 'idle': {
      if (limitedSince(signs) !== null) return say('limited', null, limitedSince(signs) ?? sinceMs, 'transcript');
      // The transcript went on after the registry fell silent: it is the newer word.
      if (facts?.turn === 'open' && signs.session !== null && (facts.lastActivityMs ?? 0) > sinceMs + leadMs) {
        return judgeTranscript(signs, signs.session);
      }
      return say('idle', null);
    }
    case 'busy':
      return judgeBusy(signs, sinceMs, seenAtMs);
    case 'unclear':
      return null;
  }
}

/** Busy says that something runs, the transcript says what. */
function judgeBusy(signs: AgentSigns, sinceMs: number, seenAtMs: number): StateReading {
  const facts = signs.session?.facts ?? null;
  // What the transcript says is as old as its last reading: the file may have become unreadable.
  const toldAtMs = Math.min(seenAtMs, signs.session?.seenAtMs ?? seenAtMs);
  const busy = (detail: Detail, since: number, source: Source, tool: string | null = null): StateReading => ({
    ...reading('working', detail, since, source, 0.95, source === 'transcript' ? toldAtMs : seenAtMs),
    tool,
  });
  if (facts === null) return { ...busy('thinking', sinceMs, 'registry'), confidence: 0.7 };
  const compactingSince = compacting(signs, facts, sinceMs);
  if (compactingSince !== null) return reading('compacting', null, compactingSince, 'transcript', 0.8, toldAtMs);
  const retryingSince = retrying(signs, facts);
  if (retryingSince !== null) return reading('retrying', null, retryingSince, 'transcript', 0.85, toldAtMs);
  const activity = openActivity(signs, facts);
  if (activity !== null) return busy(activity.detail, activity.sinceMs, 'transcript', activity.tool);
  return busy('thinking', Math.max(sinceMs, facts.lastStepMs ?? 0), 'registry');
}

/**
 * Compaction leaves no record until it is over. By hand: `/compact` is the last thing typed and the client got busy
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
  if (facts.retryUntilMs !== null && signs.nowMs < facts.retryUntilMs + leadMs) return facts.lastActivityMs;
  const request = facts.request;
  if (facts.turn !== 'open' || request === null || request.attempts < 2) return null;
  return signs.nowMs - request.atMs < retryPauseMs ? (facts.lastStepMs ?? request.atMs) : null;
}

function hasOpenCall(facts: SessionFacts | null, tool: string): boolean {
  return facts !== null && [...facts.calls.values()].some((call) => call.tool === tool);
}

/** Without the registry a call that waits for a permission looks like one that runs: hence the low confidence. */
function judgeTranscript(signs: AgentSigns, session: { facts: SessionFacts; seenAtMs: number }): StateReading | null {
  const { facts, seenAtMs } = session;
  if (facts.turn === 'none') return null;
  const since = limitedSince(signs);
  if (since !== null) return reading('limited', null, since, 'transcript', 0.8, seenAtMs);
  const activity = openActivity(signs, facts);
  if (activity !== null) {
    const confidence = activity.detail === 'tool' ? 0.5 : 0.6;
    return {
      ...reading('working', activity.detail, activity.sinceMs, 'transcript', confidence, seenAtMs),
      tool: activity.tool,
    };
  }
  if (facts.turn === 'closed')
    return reading('idle', null, facts.lastTurnAtMs ?? seenAtMs, 'transcript', 0.6, seenAtMs);
  return reading('working', 'thinking', facts.lastStepMs ?? facts.turnSinceMs ?? seenAtMs, 'transcript', 0.6, seenAtMs);
}

function openActivity(
  signs: AgentSigns,
  facts: SessionFacts,
): { detail: 'tool' | 'subagent'; sinceMs: number; tool: string | null } | null {
  let latest: { tool: string; sinceMs: number } | null = null;
  for (const call of facts.calls.values()) {
    if (latest === null || call.sinceMs >= latest.sinceMs) latest = call;
  }
  if (latest !== null) {
    const detail = isSubagentTool(latest.tool) ? 'subagent' : 'tool';
    return { detail, sinceMs: latest.sinceMs, tool: latest.tool };
  }
  if (facts.turn !== 'closed') return null;
  const sinceMs = earliestSubagent(signs, facts);
  return sinceMs === null ? null : { detail: 'subagent', sinceMs, tool: null };
}

export function isSubagentTool(tool: string): boolean {
  return tool === 'Agent' || tool === 'Task';
}

function earliestSubagent(signs: AgentSigns, facts: SessionFacts): number | null {
  let earliest: number | null = null;
  for (const work of facts.background.values()) {
    if (work.kind !== 'subagent' || signs.subagents.get(work.id)?.finished === true) continue;
    if (earliest === null || work.sinceMs < earliest) earliest = work.sinceMs;
  }
  return earliest;
}

function limitedSince(signs: AgentSigns): number | null {
  const facts = signs.session?.facts;
  if (facts === undefined || facts.limitResetsAtMs === null || facts.turn === 'open') return null;
  return signs.nowMs < facts.limitResetsAtMs + limitGraceMs ? (facts.errorAtMs ?? signs.nowMs) : null;
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

/** How the last turn ended. A prompt taken back before any answer leaves no record of its end, only an idle client. */
export function lastTurn(signs: AgentSigns): { end: TurnEnd | null; atMs: number | null } {
  const facts = signs.session?.facts;
  if (facts === undefined) return { end: null, atMs: null };
  const idle = signs.registry?.entry.activity === 'idle' ? signs.registry.entry.sinceMs : null;
  const takenBack =
    facts.turn === 'open' &&
    idle !== null &&
    idle >= (facts.lastActivityMs ?? 0) &&
    signs.nowMs - idle > requestSettleMs;
  return takenBack ? { end: 'interrupted', atMs: idle } : { end: facts.lastTurn, atMs: facts.lastTurnAtMs };
}
