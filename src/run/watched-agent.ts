import { createHash, randomUUID } from 'node:crypto';
import type { AgentClient } from '../clients/client.ts';
import { standInActivity } from '../detect/infer.ts';
import { newSession, type SessionFacts, takeEvent } from '../detect/session.ts';
import { type AgentSigns, isSubagentTool, judgeState, lastTurn } from '../detect/state.ts';
import type {
  AgentView,
  Authority,
  ContextReading,
  RegistryActivity,
  Source,
  SourceSign,
  StateReading,
} from '../model/agent.ts';
import type { Json, WatchEvent } from '../model/event.ts';
import type { SessionEvent, SessionFact } from '../model/session-event.ts';
import type { SpawnSigns } from '../model/spawn.ts';
import type { SessionRow, StoredAgent } from '../model/store.ts';
import { shown } from '../model/text.ts';
import type { ProcessInfo } from '../model/world.ts';
import type { AgentFollower, Observation, SessionHint } from '../sense/agent-follower.ts';
import type { SeenAgent } from '../sense/fleet.ts';
import type { InboxEntry } from '../sense/inbox.ts';
import type { ScreenSign } from '../sense/screens.ts';
import type { SubagentSign, SubagentWatch } from '../sense/subagents.ts';
import type { AgentInbox, HeardHook } from './agent-inbox.ts';
import { describeContexts, describeSources } from './agent-sources.ts';
import { projectFor } from './names.ts';
import { spawnSigns } from './spawn-signs.ts';

const pathCharsMax = 4_096;
/** A model thinks that long without a word; after it the screen may know more. */
const silentThinkingMs = 3_000;

export interface Look {
  events: WatchEvent[];
  /** Sessions whose row changed: the present one, and one that just ended. */
  sessions: SessionRow[];
  changed: boolean;
  more: boolean;
}

interface Parts {
  name: string;
  host: string;
  seen: SeenAgent;
  follower: AgentFollower;
  subagents: SubagentWatch;
  inbox: AgentInbox;
  startedAtMs: number;
  authority: (name: string, inTmux: boolean) => Authority;
  stored: StoredAgent | null;
  /** Everything the client's record says, also what was recorded before. */
  told: (agent: string, event: SessionEvent) => void;
  hooked: (agent: string, hook: HeardHook) => void;
  /** Sources found broken in this version of its client: they are left out. */
  broken: (clientVersion: string | null) => ReadonlySet<Source>;
}

/** What the watcher brings to a look at one agent. */
export interface Senses {
  inbox: InboxEntry[];
  screen: ScreenSign | null;
  /** Seen a moment ago; null: look yourself. */
  process: ProcessInfo | null;
  taken: SessionHint['taken'];
}

/** One agent under watch: folds what its follower brings into a view, and says what changed. */
export class WatchedAgent {
  readonly name: string;
  readonly #parts: Parts;
  readonly #client: AgentClient;
  #seen: SeenAgent;
  #facts: SessionFacts = newSession();
  #sessionId: string | null = null;
  #sessionStartedAtMs: number;
  #recorded: { inode: string; offset: number } | null = null;
  #transcript: string | null = null;
  #view: AgentView | null = null;
  #compactAskedMs: number | null = null;
  #hasBacklog = false;
  #noRegistry = false;
  #print = '';
  #lastSigns: AgentSigns | null = null;
  #spawned: SpawnSigns | null = null;
  /** An earlier run's last word, so that a restart does not tell it again. */
  #before: StoredAgent | null;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#client = parts.seen.client;
    this.#seen = parts.seen;
    this.name = parts.name;
    this.#before = parts.stored;
    this.#sessionStartedAtMs = parts.startedAtMs;
  }

  get seen(): SeenAgent {
    return this.#seen;
  }

  get view(): AgentView | null {
    return this.#view;
  }

  /** The last word on it, be it an earlier run's. */
  get lastView(): AgentView | null {
    return this.#view ?? this.#before?.view ?? null;
  }

  /** It has written more than one look can take in. */
  get hasBacklog(): boolean {
    return this.#hasBacklog;
  }

  /** When `/compact` was last typed into it. */
  get compactAskedMs(): number | null {
    return this.#compactAskedMs;
  }

  /** What it does in this moment where its registry does not say so; null: nobody knows. */
  standIn(nowMs: number): RegistryActivity | null {
    return this.#lastSigns === null ? null : standInActivity(this.#lastSigns, nowMs);
  }

  /** What its own records say of its background work; null while they are being read up. */
  get spawned(): SpawnSigns | null {
    return this.#spawned;
  }

  get folders(): string[] {
    return this.#parts.follower.folders();
  }

  /** Its pane can move, be renamed or vanish while it lives. */
  place(seen: SeenAgent): void {
    this.#seen = seen;
  }

  get sessionId(): string | null {
    return this.#sessionId;
  }

  /** Its records do not say enough: a picture of its pane would help. */
  get wantsScreen(): boolean {
    const view = this.#view;
    if (view === null || view.tmux === null) return view === null;
    const { state, detail, sinceMs, seenAtMs } = view.reading;
    if (state === 'ended') return false;
    if (this.#noRegistry || state === 'unknown') return true;
    const silentMs = seenAtMs - Math.max(sinceMs, view.lastActivityMs ?? 0);
    return state === 'retrying' || detail === 'api-stall' || (detail === 'thinking' && silentMs > silentThinkingMs);
  }

  isAbout(folder: string, name: string | null): boolean {
    return this.#parts.follower.isAbout(folder, name);
  }

  /** Its state does not change by itself, and its files tell when it does. */
  get isSettled(): boolean {
    const state = this.#view?.reading.state;
    return !this.#noRegistry && (state === 'idle' || state === 'waiting' || state === 'limited');
  }

  look(nowMs: number, senses: Senses): Look {
    const { follower, inbox } = this.#parts;
    const hooks = inbox.take(senses.inbox, follower.registeredSession);
    const observation = follower.poll({ told: inbox.session, taken: senses.taken }, senses.process);
    this.#noRegistry = observation.trouble.registry !== null || this.#broken().has('registry');
    this.#compactAskedMs = observation.compactAskedMs;
    this.#hasBacklog = observation.more && observation.events.length > 0;
    const look: Look = { events: [], sessions: [], changed: false, more: observation.more };
    if (observation.restarted) this.#restart(observation, nowMs, look);
    this.#take(observation, look);
    this.#takeHooks(hooks, look);
    const subagents = this.#pollSubagents();
    this.#spawned =
      this.#transcript === null || this.#hasBacklog
        ? null
        : spawnSigns(this.#facts, subagents, {
            sessionId: this.#sessionId,
            sinceMs: this.#parts.startedAtMs,
            subagentFolder: this.#client.subagentFolder(this.#transcript),
            fileOf: (id) => this.#client.subagentFiles(id).transcript,
          });
    const signs = this.#signs(observation, subagents, senses, nowMs);
    this.#lastSigns = signs;
    const view = this.#describe(observation, this.#judge(signs), signs);
    this.#compare(view, nowMs, look);
    if (look.events.length > 0 || look.changed) look.sessions.push(...this.#sessionRow(view));
    this.#view = view;
    return look;
  }

  #restart(observation: Observation, nowMs: number, look: Look): void {
    this.#facts = newSession();
    if (observation.sessionId === this.#sessionId) {
      // The file was cut or replaced: how far it was recorded says nothing about the new content.
      this.#recorded = null;
      return;
    }
    const previous = this.#sessionId ?? this.#before?.view.sessionId ?? null;
    if (this.#sessionId !== null && this.#view !== null) {
      const [row] = this.#sessionRow(this.#view);
      if (row !== undefined) look.sessions.push({ ...row, endedAtMs: nowMs });
    }
    if (previous !== null && previous !== observation.sessionId) {
      look.events.push(this.#event(nowMs, 'registry', 'session', { from: previous }, observation.sessionId));
      this.#sessionStartedAtMs = observation.registry?.entry.sinceMs ?? nowMs;
    }
    this.#sessionId = observation.sessionId;
    this.#recorded = this.#before?.recorded.get(observation.sessionId ?? '') ?? null;
    this.#transcript = null;
  }

  #take(observation: Observation, look: Look): void {
    const transcript = observation.transcript;
    if (transcript === null) return;
    this.#transcript = transcript.path;
    // A shorter file was cut while nobody watched.
    if (this.#recorded?.inode !== transcript.inode || this.#recorded.offset > transcript.size)
      this.#recorded = { inode: transcript.inode, offset: 0 };
    const recordedTo = this.#recorded.offset;
    for (const { event, offset } of observation.events) {
      takeEvent(this.#facts, event);
      this.#parts.told(this.name, event);
      if (offset < recordedTo) continue;
      this.#recorded.offset = Math.max(this.#recorded.offset, offset + 1);
      // What the session did under an earlier process is history, not something seen.
      if (event.atMs >= this.#parts.startedAtMs) look.events.push(this.#transcriptEvent(event, transcript.path));
    }
  }

  #pollSubagents(): Map<string, SubagentSign> {
    if (this.#transcript === null) return new Map();
    const running = [...this.#facts.background.values()]
      .filter((work) => work.kind === 'subagent')
      .map((work) => work.id);
    const inForeground = [...this.#facts.calls.values()].some((call) => isSubagentTool(call.tool));
    return this.#parts.subagents.poll(this.#transcript, running, inForeground);
  }

  #takeHooks(hooks: HeardHook[], look: Look): void {
    for (const heard of hooks) {
      const { hook, atMs, file } = heard;
      this.#parts.hooked(this.name, heard);
      const { kind, ...fact } = hook.fact;
      const data = cleanData({ event: hook.name, kind, ...fact, subagent: hook.subagent });
      const id = stableId(`${this.#parts.host}\n${file}\n${atMs}`);
      look.events.push({ id, atMs, agent: this.name, sessionId: hook.sessionId, source: 'hook', kind: 'hook', data });
    }
  }

  #signs(observation: Observation, subagents: Map<string, SubagentSign>, senses: Senses, nowMs: number): AgentSigns {
    const { transcript, alive } = observation;
    const broken = this.#broken();
    const context = this.#transcriptContext();
    return {
      nowMs,
      alive,
      // A process found alive says so now, but has been there since it was started.
      processSeenAtMs: alive && this.#view === null ? this.#parts.startedAtMs : observation.seenAtMs,
      suspended: observation.suspended,
      registry: broken.has('registry') ? null : observation.registry,
      // In the middle of a backlog the facts are those of some moment long ago.
      session:
        transcript === null || this.#hasBacklog || broken.has('transcript')
          ? null
          : { facts: this.#facts, seenAtMs: transcript.seenAtMs },
      hooks: broken.has('hook') ? null : this.#parts.inbox.facts(this.#sessionId),
      screen: broken.has('screen') ? null : senses.screen,
      subagents,
      compactAskedMs: observation.compactAskedMs,
      contextShare: context === null ? null : context.used / context.usable,
    };
  }

  #judge(signs: AgentSigns): StateReading {
    const reading = judgeState(signs);
    const previous = this.#view?.reading ?? this.#sameAsStored(reading);
    // The same state goes on: it keeps its beginning, however the source words it.
    if (previous !== null && isSameState(previous, reading)) {
      const sinceMs = reading.state === 'ended' || reading.state === 'unknown' ? previous.sinceMs : reading.sinceMs;
      return { ...reading, sinceMs };
    }
    return reading;
  }

  #sameAsStored(reading: StateReading): StateReading | null {
    const stored = this.#before?.view.reading;
    return stored !== undefined && isSameState(stored, reading) ? stored : null;
  }

  #describe(observation: Observation, reading: StateReading, signs: AgentSigns): AgentView {
    const facts = this.#facts;
    const { subagents } = signs;
    const turn = lastTurn(signs, reading);
    const line = this.#broken().has('statusline') ? null : this.#parts.inbox.statusLine(this.#sessionId);
    const contexts = describeContexts(this.#transcriptContext(), line, signs.screen);
    const place = this.#seen.place;
    const session = place === null ? null : shown(place.pane.session, 200);
    const last = this.lastView;
    const cwd = observation.registry?.entry.cwd ?? last?.cwd ?? null;
    // As long as its file cannot be read, what an earlier run knew of this session stands.
    const known = this.#transcript === null && last !== null && last.sessionId === this.#sessionId ? last : null;
    const ended = reading.state === 'ended';
    const background = ended
      ? []
      : [...facts.background.values()].filter((work) => subagents.get(work.id)?.finished !== true);
    const subagentActivity = [...subagents.values()].map((sign) => sign.lastActivityMs);
    return {
      agent: this.name,
      project: projectFor(session, cwd),
      client: this.#client.name,
      clientVersion:
        clean(observation.registry?.entry.version ?? null) ??
        clean(line?.line.version ?? null) ??
        last?.clientVersion ??
        null,
      host: this.#parts.host,
      authority: this.#parts.authority(this.name, place !== null),
      cwd: clean(cwd),
      tmux: place === null || session === null ? null : { socket: shown(place.socket), session, pane: place.pane.id },
      process: {
        bootId: this.#seen.process.bootId,
        pid: this.#seen.process.pid,
        startTicks: this.#seen.process.startTicks,
      },
      sessionId: this.#sessionId,
      transcript: this.#transcript,
      startedAtMs: this.#parts.startedAtMs,
      reading: { ...reading, tool: clean(reading.tool) },
      model: clean(facts.model) ?? clean(line?.line.model ?? null) ?? known?.model ?? null,
      context: contexts.best ?? known?.context ?? null,
      contexts: contexts.all,
      limits: line?.line.limits.map((limit) => ({ ...limit, name: shown(limit.name, 40) })) ?? [],
      sources: this.#sources(observation, signs, line?.atMs ?? null),
      costUsd: line?.line.costUsd ?? facts.costUsd ?? known?.costUsd ?? null,
      lastActivityMs: latest([facts.lastActivityMs, observation.registry?.entry.sinceMs ?? null, ...subagentActivity]),
      lastTurn: turn.end ?? known?.lastTurn ?? null,
      lastTurnAtMs: turn.atMs ?? known?.lastTurnAtMs ?? null,
      error: describeError(facts) ?? known?.error ?? null,
      errorKind: facts.error === null ? (known?.errorKind ?? null) : clean(facts.errorKind),
      endedBadly: ended ? this.#endedBadly(observation) : null,
      background: background.map((work) => ({
        ...work,
        id: shown(work.id, 100),
        tool: clean(subagents.get(work.id)?.tool ?? null),
      })),
      findings: [],
    };
  }

  /** Closed at its prompt it takes its entry out of the registry; everything else is worth a word. */
  #endedBadly(observation: Observation): string | null {
    const before = this.lastView;
    if (before?.reading.state === 'ended') return before.endedBadly;
    if (observation.registryLeft) return 'without closing its session, as a killed process does';
    const state = before?.reading.state ?? 'unknown';
    return state === 'idle' || state === 'unknown' ? null : `while it was ${state}`;
  }

  #broken(): ReadonlySet<Source> {
    return this.#parts.broken(this.lastView?.clientVersion ?? null);
  }

  /** What may not be gone by. */
  isBroken(source: Source): boolean {
    return this.#broken().has(source);
  }

  #sources(observation: Observation, signs: AgentSigns, statusLineMs: number | null): SourceSign[] {
    return describeSources({
      signs,
      trouble: observation.trouble,
      inTmux: this.#seen.place !== null,
      startedAtMs: this.#parts.startedAtMs,
      lastHookMs: this.#parts.inbox.lastHookMs,
      statusLineMs,
      broken: this.#broken(),
    });
  }

  #transcriptContext(): ContextReading | null {
    const facts = this.#facts;
    if (facts.contextUsed === null || facts.contextAtMs === null || facts.model === null) return null;
    const used = facts.contextUsed;
    const { window, usable } = this.#client.contextWindow(facts.model, used);
    return { used, window, usable, percent: (used / window) * 100, source: 'transcript', atMs: facts.contextAtMs };
  }

  #compare(view: AgentView, nowMs: number, look: Look): void {
    const previous = this.lastView;
    if (previous === null) {
      const where: Json = view.tmux === null ? null : { ...view.tmux };
      look.events.push(
        this.#event(
          nowMs,
          'process',
          'agent',
          { pid: view.process.pid, client: view.client, tmux: where },
          view.sessionId,
        ),
      );
    }
    if (previous === null || !isSameState(previous.reading, view.reading)) {
      const { state, detail, tool, source, confidence, sinceMs } = view.reading;
      const from = previous?.reading.state ?? null;
      look.events.push(
        this.#event(sinceMs, source, 'state', { state, detail, tool, from, confidence }, view.sessionId),
      );
    }
    const print = fingerprint(view);
    look.changed = print !== this.#print;
    this.#print = print;
  }

  #sessionRow(view: AgentView): SessionRow[] {
    if (this.#sessionId === null) return [];
    return [
      {
        agent: this.name,
        sessionId: this.#sessionId,
        transcript: this.#transcript === null ? null : shown(this.#transcript, pathCharsMax),
        recorded: this.#recorded === null ? null : { ...this.#recorded },
        model: view.model,
        contextUsed: view.context?.used ?? null,
        startedAtMs: this.#sessionStartedAtMs,
        lastActivityMs: view.lastActivityMs,
        endedAtMs: view.reading.state === 'ended' ? view.reading.sinceMs : null,
      },
    ];
  }

  #transcriptEvent(event: SessionEvent, transcript: string): WatchEvent {
    const { kind, ...data } = withoutWords(event.fact);
    return {
      id: stableId(`${this.#parts.host}\n${transcript}\n${event.key}`),
      atMs: event.atMs,
      agent: this.name,
      sessionId: this.#sessionId,
      source: 'transcript',
      kind,
      data: cleanData(data),
    };
  }

  #event(
    atMs: number,
    source: WatchEvent['source'],
    kind: string,
    data: { [key: string]: Json },
    sessionId: string | null,
  ): WatchEvent {
    return { id: randomUUID(), atMs, agent: this.name, sessionId, source, kind, data: cleanData(data) };
  }
}

/** What the model said and meant to run is not kept; only that it spoke and what tool it called. */
function withoutWords(fact: SessionFact): { kind: string } {
  if (fact.kind === 'reply') return { ...fact, text: undefined } as { kind: string };
  return fact.kind === 'tool-call' ? ({ ...fact, about: undefined } as { kind: string }) : fact;
}

function isSameState(a: StateReading, b: StateReading): boolean {
  return a.state === b.state && a.detail === b.detail && a.tool === b.tool;
}

/** Everything of a view but what moves by itself with time. */
function fingerprint(view: AgentView): string {
  const sources = view.sources.map(({ source, health }) => ({ source, health }));
  return JSON.stringify({ ...view, sources, contexts: [], reading: { ...view.reading, seenAtMs: 0 } });
}

function describeError(facts: SessionFacts): string | null {
  if (facts.error === null) return null;
  const resets = facts.limitResetsAtMs;
  return shown(resets === null ? facts.error : `${facts.error} · resets ${new Date(resets).toISOString()}`, 500);
}

function latest(times: (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.max(...known);
}

function clean(text: string | null): string | null {
  return text === null ? null : shown(text, 500);
}

function cleanData(value: { [key: string]: unknown }): { [key: string]: Json } {
  return JSON.parse(JSON.stringify(value, (_key, item) => (typeof item === 'string' ? shown(item, 500) : item)));
}

/** The same record always gets the same id, so that it is stored once however often it is read. */
function stableId(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
