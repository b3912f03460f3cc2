import type { AgentClient } from '../clients/client.ts';
import { holdBand } from '../decide/bands.ts';
import { askedFor } from '../detect/asked.ts';
import { refusedNow } from '../detect/refusals.ts';
import type { SessionFacts } from '../detect/session.ts';
import { type AgentSigns, type LastTurn, lastTurn, limitedUntil } from '../detect/state.ts';
import type {
  Authority,
  ContextReading,
  ContextReport,
  OffFacts,
  Sighting,
  Source,
  StateReading,
} from '../model/agent.ts';
import { percentOf } from '../model/percent.ts';
import { isEmpty, shown } from '../model/text.ts';
import type { Observation } from '../sense/agent-follower.ts';
import type { SeenAgent } from '../sense/fleet.ts';
import type { AgentInbox } from './agent-inbox.ts';
import { describeContexts, describeSources, inWindow, reportedContext } from './agent-sources.ts';
import { projectFor } from './names.ts';

/** Everything a view of an agent is made of. */
export interface ViewParts {
  name: string;
  host: string;
  authority: Authority;
  startedAtMs: number;
  seen: SeenAgent;
  sessionId: string | null;
  transcript: string | null;
  facts: SessionFacts;
  /** Its context by its record. */
  transcriptContext: ContextReading | null;
  /** By what it answered itself. */
  answeredContext: ContextReading | null;
  observation: Observation;
  signs: AgentSigns;
  reading: StateReading;
  /** When it was last heard by its screen alone. */
  heardMs: number | null;
  inbox: AgentInbox;
  /** Found broken in this version of its client. */
  off: OffFacts;
  /** Edges of the bands of context, in percent. */
  bands: readonly number[];
  /** Its record is being read up: what it says is of some moment long ago. */
  isBehind: boolean;
  /** What another program wrote of its context. */
  report: ContextReport | null;
  /** The view before, be it an earlier run's. */
  last: Sighting | null;
}

export function describeAgent(parts: ViewParts): Sighting {
  const { facts, observation, signs, reading, last, sessionId, transcript } = parts;
  const { process, place, client } = parts.seen;
  const turn = lastTurn(signs, reading);
  const line = parts.off.get('statusline')?.has('context') === true ? null : parts.inbox.statusLine(sessionId);
  const contexts = describeContexts(parts.transcriptContext, line, signs.screen, parts.answeredContext);
  const session = place === null ? null : shown(place.pane.session, 200);
  const entry = observation.registry?.entry ?? null;
  const cwd = entry?.cwd ?? parts.inbox.session?.cwd ?? observation.cwd ?? last?.cwd ?? null;
  // As long as its file cannot be read, what an earlier run knew of this session stands.
  const sameSession = last !== null && last.sessionId === sessionId ? last : null;
  const known = transcript === null ? sameSession : null;
  const report = reportedContext(parts.report, sessionId);
  // What was written may have been written anew, or taken back, since an earlier run read it.
  const before = known?.context?.source === 'ps_sessions' ? null : known?.context;
  const context = contexts.best ?? before ?? report;
  return {
    agent: parts.name,
    project: projectFor(session, cwd),
    client: client.name,
    clientVersion: clean(entry?.version ?? line?.line.version ?? null) ?? last?.clientVersion ?? null,
    host: parts.host,
    authority: parts.authority,
    cwd: clean(cwd),
    tmux: place === null || session === null ? null : { socket: shown(place.socket), session, pane: place.pane.id },
    process: { bootId: process.bootId, pid: process.pid, startTicks: process.startTicks },
    sessionId,
    transcript,
    startedAtMs: parts.startedAtMs,
    reading: { ...reading, tool: clean(reading.tool) },
    asks: askedFor(signs, reading) ?? (isSameWait(last?.reading, reading) ? (last?.asks ?? null) : null),
    model: clean(facts.model) ?? clean(line?.line.model ?? null) ?? known?.model ?? null,
    context,
    contexts: report === null ? contexts.all : [...contexts.all, { ...report, scale: 'window' }],
    band: parts.isBehind
      ? (sameSession?.band ?? null)
      : holdBand(context?.percent ?? null, sameSession?.band ?? null, parts.bands, signs.nowMs),
    limits: line?.line.limits.map((limit) => ({ ...limit, name: shown(limit.name, 40) })) ?? [],
    sources: describeSources({
      signs,
      trouble: observation.trouble,
      inTmux: place !== null,
      startedAtMs: parts.startedAtMs,
      lastHookMs: parts.inbox.lastHookMs,
      statusLineMs: line?.atMs ?? null,
      lacks: lackOf(parts.seen.client),
      off: parts.off,
    }),
    costUsd: line?.line.costUsd ?? facts.costUsd ?? known?.costUsd ?? null,
    lastActivityMs: lastActivity(parts),
    lastTurn: turn.end ?? known?.lastTurn ?? null,
    lastTurnAtMs: turn.atMs ?? known?.lastTurnAtMs ?? null,
    turnIsOpen: turn.isOpen,
    ...describeError(parts, known),
    stopped: describeStop(parts, turn, known),
    limitedUntilMs: limitedUntil(signs),
    refused: refusedNow(facts, signs.nowMs),
    endedBadly: reading.state === 'ended' ? endedBadly(observation, last) : null,
    background: describeBackground(parts),
  };
}

/** Between two pictures of its screen nothing is known anew of what it asks. */
function isSameWait(before: StateReading | undefined, { state, detail, sinceMs }: StateReading): boolean {
  return state === 'waiting' && before?.state === state && before.detail === detail && before.sinceMs === sinceMs;
}

function lackOf({ sources }: AgentClient): ReadonlySet<Source> {
  const { registry, record, hooks, statusLine, screen } = sources;
  const all = { registry, transcript: record, hook: hooks, statusline: statusLine, screen };
  return new Set((Object.keys(all) as (keyof typeof all)[]).filter((source) => all[source] === undefined));
}

/** `told`: the window the status line told, now or in an earlier run; else the model's name says it. */
export function transcriptContext(
  { client }: SeenAgent,
  facts: SessionFacts,
  told: number | null,
): ContextReading | null {
  if (facts.contextUsed === null || facts.contextAtMs === null || facts.model === null) return null;
  const used = facts.contextUsed;
  const { window, usable } = client.models.contextWindow(facts.model, used);
  const percent = percentOf(used, window);
  const reading: ContextReading = { used, window, usable, percent, source: 'transcript', atMs: facts.contextAtMs };
  return told === null ? reading : inWindow(reading, told);
}

function lastActivity({ facts, observation, signs, heardMs }: ViewParts): number | null {
  const registryMs = observation.registry?.entry.sinceMs ?? null;
  const subagents = [...signs.subagents.values()].map((sign) => sign.lastActivityMs);
  const known = [facts.lastActivityMs, registryMs, heardMs, signs.hooks?.lastAtMs ?? null, ...subagents].filter(
    // One ahead is from before the clock was set back.
    (time): time is number => time !== null && time <= signs.nowMs,
  );
  return known.length === 0 ? null : Math.max(...known);
}

function describeError({ facts, signs }: ViewParts, known: Sighting | null): Pick<Sighting, 'error' | 'errorKind'> {
  if (facts.error !== null) {
    const resets = facts.limitResetsAtMs;
    const until = resets === null ? '' : ` · resets ${new Date(resets).toISOString()}`;
    const said = shown(facts.error, 500 - until.length);
    // The client says it too, on its own clock and without the day.
    return {
      error: resets === null ? said : `${said.replace(/ · resets [^·]*$/, '')}${until}`,
      errorKind: clean(facts.errorKind),
    };
  }
  const failed = signs.session === null ? (signs.hooks?.failed ?? null) : null;
  if (failed !== null)
    return { error: shown(isEmpty(failed.text) ? failed.error : failed.text, 500), errorKind: clean(failed.error) };
  return { error: known?.error ?? null, errorKind: known?.errorKind ?? null };
}

/** Without its record the last turn has to do. Whoever takes a prompt back has taken over. */
function describeStop(parts: ViewParts, turn: LastTurn, known: Sighting | null): Sighting['stopped'] {
  const { facts, signs } = parts;
  if (turn.end === 'interrupted') return null;
  if (signs.session === null) {
    if (turn.end === null) return known?.stopped ?? null;
    return turn.end === 'failed' ? { sinceMs: turn.atMs ?? signs.nowMs, ...describeError(parts, known) } : null;
  }
  if (facts.stopped === null) return null;
  const { sinceMs, error, errorKind } = facts.stopped;
  return { sinceMs, error: shown(error, 500), errorKind: clean(errorKind) };
}

function describeBackground({ facts, signs, reading }: ViewParts): Sighting['background'] {
  if (reading.state === 'ended') return [];
  return [...facts.background.values()]
    .filter((work) => signs.subagents.get(work.id)?.finished !== true)
    .map((work) => ({ ...work, id: shown(work.id, 100), tool: clean(signs.subagents.get(work.id)?.tool ?? null) }));
}

/** Closed at its prompt it takes its entry out of the registry; everything else is worth a word. */
function endedBadly(observation: Observation, before: Sighting | null): string | null {
  if (before?.reading.state === 'ended') return before.endedBadly;
  if (observation.registryLeft) return 'without closing its session, as a killed process does';
  const state = before?.reading.state ?? 'unknown';
  return state === 'idle' || state === 'unknown' ? null : `while it was ${state}`;
}

function clean(text: string | null): string | null {
  return text === null ? null : shown(text, 500);
}
