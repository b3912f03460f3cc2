import type { AgentClient } from '../clients/client.ts';
import { isSameStay } from '../decide/bands.ts';
import { type HandoffDue, type HandoffPolicy, shouldHandOff } from '../decide/handoff/trigger.ts';
import { believedActivity, believedSigns } from '../detect/believed.ts';
import { heardOnScreen } from '../detect/heard.ts';
import { standInActivity } from '../detect/infer.ts';
import type { LoopTrouble } from '../detect/loops/watch.ts';
import { type AgentSigns, isSubagentTool, judgeState, type ScreenSigns } from '../detect/state.ts';
import type { Values } from '../detect/thresholds.ts';
import type { TurnWords } from '../detect/turn-words.ts';
import type {
  Authority,
  ContextReading,
  ContextReport,
  OffFacts,
  RegistryActivity,
  Sighting,
  Source,
  SourceFact,
  State,
  StateReading,
} from '../model/agent.ts';
import type { Json } from '../model/event.ts';
import { keepNotAfter, notAfter } from '../model/not-after.ts';
import type { SpawnSigns } from '../model/spawn.ts';
import type { StoredAgent } from '../model/store.ts';
import type { ProcessInfo } from '../model/world.ts';
import type { AgentFollower, Observation, SessionHint } from '../sense/agent-follower.ts';
import type { SeenAgent } from '../sense/fleet.ts';
import type { InboxEntry } from '../sense/inbox.ts';
import type { ScreenSign } from '../sense/screens.ts';
import type { SubagentSign, SubagentWatch } from '../sense/subagents.ts';
import { AgentEvents } from './agent-events.ts';
import type { AgentInbox } from './agent-inbox.ts';
import { AgentSession, type Look } from './agent-session.ts';
import { inWindow, isSaid } from './agent-sources.ts';
import { describeAgent, transcriptContext } from './agent-view.ts';
import { isNamedAfter } from './names.ts';
import { Rest } from './rest.ts';
import { fingerprint, isSameState, type SameAt, seenAgain, setBack } from './sightings.ts';
import { spawnSigns } from './spawn-signs.ts';

/** A model thinks, and a tool runs, that long without a word; after it the screen may know more. */
const silentMaxMs = 3_000;
const settled: readonly State[] = ['idle', 'waiting', 'limited'];

interface Parts {
  name: string;
  host: string;
  seen: SeenAgent;
  follower: AgentFollower;
  /** null: its client keeps no records of them. */
  subagents: SubagentWatch | null;
  inbox: AgentInbox;
  startedAtMs: number;
  /** `session`: the tmux session it is in at this moment. */
  authority: (session: string | null) => Authority;
  stored: StoredAgent | null;
  /** Found broken in this version of its client: it is left out. */
  off: (clientVersion: string | null) => OffFacts;
  /** Edges of the bands of context, in percent. */
  bands: () => readonly number[];
  /** From when on the checks speak. */
  limits: () => Values;
  /** What another program wrote of its context. */
  report: () => ContextReport | null;
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
  readonly #events: AgentEvents;
  readonly #session: AgentSession;
  #seen: SeenAgent;
  #view: Sighting | null = null;
  #sameAt: SameAt = { registryMs: 0, transcriptMs: 0 };
  readonly rest = new Rest();
  /** When another program wrote of its context, as the last look knew it. */
  #reportMs: number | undefined;
  /** Otherwise less may be done to it as soon as another agent's session is called like it. */
  #isNamedAsUsual: boolean;
  #compactAskedMs: number | null = null;
  #hasBacklog = false;
  #isBehind = true;
  #noRegistry = false;
  #print = '';
  #heardMs: number | null = null;
  #lastSigns: AgentSigns | null = null;
  #spawned: SpawnSigns | null = null;
  /** An earlier run's last word, so that a restart does not tell it again. */
  #before: StoredAgent | null;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#client = parts.seen.client;
    this.#events = new AgentEvents(parts.host, parts.name);
    this.#seen = parts.seen;
    this.name = parts.name;
    this.#isNamedAsUsual = isNamedAsUsual(parts.name, parts.seen);
    this.#before = parts.stored;
    this.#session = new AgentSession(parts, this.#events);
  }

  get seen(): SeenAgent {
    return this.#seen;
  }

  /** With its age: made when somebody asks, for mostly nobody does. */
  get view(): Sighting | null {
    if (this.#view !== null && this.#sameAt.registryMs > this.#view.reading.seenAtMs)
      this.#view = seenAgain(this.#view, this.#sameAt);
    return this.#view;
  }

  /** The last word on it, be it an earlier run's. */
  get lastView(): Sighting | null {
    return this.view ?? this.#before?.view ?? null;
  }

  /** Its record has not been read to the end yet. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** It has written more than one look can take in. */
  get hasBacklog(): boolean {
    return this.#hasBacklog;
  }

  /** When its client's own command to compact was last typed into it. */
  get compactAskedMs(): number | null {
    return this.#compactAskedMs;
  }

  /** What it does in this moment where its registry does not say so; null: nobody knows. `picture`: a newer one. */
  standIn(nowMs: number, picture: Pick<ScreenSigns, 'reading'> | null): RegistryActivity | null {
    if (this.#lastSigns === null) return null;
    const newer = picture === null ? null : { ...picture, sinceMs: nowMs, atMs: nowMs, drawnMs: null, countedMs: null };
    return standInActivity(newer === null ? this.#lastSigns : { ...this.#lastSigns, screen: newer }, nowMs);
  }

  /** What its own records say of its background work; null while they are being read up. */
  get spawned(): SpawnSigns | null {
    return this.#spawned;
  }

  /** What its record shows of loops, errors and lost ways; nothing while it is being read up. */
  get loops(): LoopTrouble[] {
    return this.#hasBacklog ? [] : this.#session.loops;
  }

  /** What it said in its last turn; null while that is being read up. */
  get words(): TurnWords | null {
    return this.#hasBacklog ? null : this.#session.words;
  }

  /** What it says of its own context: asked by us, for where nobody else tells. */
  answered({ used, window }: Pick<ContextReading, 'used' | 'window'>, atMs: number): void {
    const known = this.#client.models.contextWindow(this.#view?.model ?? '', used);
    const reading = { ...known, used, percent: 0, source: 'answer' as const, atMs };
    this.#session.answered(inWindow(reading, window));
  }

  /** Whether it is time to hand its context over. */
  handoffDue(policy: HandoffPolicy): HandoffDue {
    const view = this.#view;
    const context = view?.context ?? null;
    // In the middle of a backlog the figures are those of some moment long ago. What was only said clears nothing by itself.
    if (view === null || context === null || isSaid(context) || this.#hasBacklog)
      return shouldHandOff([], policy, { compactsAt: null, isWorking: false });
    const points = this.#session.points.filter((point) => !isSaid(point));
    return shouldHandOff(points.length > 0 ? points : [{ ...context, compacted: null, usedBefore: null }], policy, {
      compactsAt: this.#client.models.compactionPoint(view.model ?? '', context.window),
      isWorking: view.reading.state !== 'idle',
    });
  }

  get folders(): string[] {
    return this.#parts.follower.folders();
  }

  /** Its pane can move, be renamed or vanish while it lives: whether it did. */
  place(seen: SeenAgent): boolean {
    const before = this.#seen.place;
    this.#seen = seen;
    if (isSamePlace(before, seen.place)) return false;
    this.#isNamedAsUsual = isNamedAsUsual(this.name, seen);
    return true;
  }

  get sessionId(): string | null {
    return this.#session.id;
  }

  get hasRegistry(): boolean {
    return !this.#noRegistry;
  }

  /** Its records do not say enough: a picture of its pane would help. */
  get wantsScreen(): boolean {
    const view = this.#view;
    if (view === null || view.tmux === null) return view === null;
    const { state, detail, sinceMs, seenAtMs } = view.reading;
    if (state === 'ended') return false;
    if (this.#noRegistry || state === 'unknown') return true;
    const silentMs = seenAtMs - Math.max(sinceMs, view.lastActivityMs ?? 0);
    const isSilent = (detail === 'thinking' || detail === 'tool') && silentMs > silentMaxMs;
    // Nobody else knows what it waits for.
    const isMute = state === 'waiting' && (view.asks === null || view.asks.source === 'screen');
    return state === 'retrying' || detail === 'api-stall' || isSilent || isMute;
  }

  /** The clock was set back: what is known counts as of now at the latest; a stay in a band moves as its incident does. */
  clockSetBack(byMs: number, nowMs: number): void {
    this.#sameAt = { registryMs: 0, transcriptMs: 0 };
    if (this.#view !== null) this.#view = setBack(this.#view, byMs, nowMs);
    if (this.#before !== null) this.#before = { ...this.#before, view: setBack(this.#before.view, byMs, nowMs) };
    keepNotAfter(this.#session.facts, nowMs);
    if (this.#session.answer !== null) keepNotAfter(this.#session.answer, nowMs);
    this.#parts.follower.clockSetBack(byMs);
    this.#parts.inbox.clockSetBack(nowMs);
    this.#heardMs = this.#heardMs === null ? null : notAfter(this.#heardMs, nowMs);
  }

  isAbout(folder: string, name: string | null): boolean {
    return this.#parts.follower.isAbout(folder, name);
  }

  /** Its state does not change by itself, and the registry still says the same: that is seen as of now. */
  isSettled(nowMs: number, isWatched: (folder: string) => boolean): boolean {
    const view = this.#view;
    if (view === null || this.#noRegistry || !settled.includes(view.reading.state)) return false;
    if (!this.#parts.follower.isSame(nowMs, isWatched)) return false;
    this.#sameAt.registryMs = nowMs;
    return true;
  }

  /** It rests, and its files are as they were: a look would see the same. */
  isAtRest(nowMs: number, monotonicMs: number): boolean {
    if (!this.rest.lasts(monotonicMs) || this.#noRegistry || this.#isBehind || !this.#isNamedAsUsual) return false;
    if (this.#parts.report()?.atMs !== this.#reportMs || !this.#parts.follower.isUnchanged(nowMs)) return false;
    this.#sameAt = { registryMs: nowMs, transcriptMs: nowMs };
    return true;
  }

  look(nowMs: number, senses: Senses): Look {
    const { follower, inbox } = this.#parts;
    this.#reportMs = this.#parts.report()?.atMs;
    const hooks = inbox.take(senses.inbox, follower.registeredSession);
    const observation = follower.poll({ told: inbox.session, taken: senses.taken }, senses.process);
    if (observation.registry !== null) keepNotAfter(observation.registry.entry, nowMs);
    for (const { event } of observation.events) event.atMs = notAfter(event.atMs, nowMs);
    this.#noRegistry =
      this.#client.sources.registry === undefined ||
      observation.trouble.registry !== null ||
      this.#off('registry').has('turns');
    this.#compactAskedMs = observation.compactAskedMs;
    this.#hasBacklog = observation.more && observation.events.length > 0;
    this.#isBehind = observation.more;
    const none = { heard: [], events: [], sessions: [], points: [] };
    const look: Look = { ...none, hooks, changed: false, more: observation.more };
    if (observation.restarted) {
      const last = { view: this.#view, stored: this.#before };
      this.#session.restart(observation, last, nowMs, look);
    }
    this.#session.take(observation, (told) => this.#transcriptContext(told), look);
    for (const hook of hooks) look.events.push(this.#events.ofHook(hook));
    const subagents = this.#pollSubagents();
    this.#spawned =
      this.#session.transcript === null || this.#hasBacklog
        ? null
        : spawnSigns(this.#session.facts, subagents, {
            sessionId: this.#session.id,
            sinceMs: this.#parts.startedAtMs,
            subagents: this.#subagentPlace(this.#session.transcript),
          });
    const signs = this.#signs(observation, subagents, senses, nowMs);
    this.#lastSigns = signs;
    const view = this.#describe(observation, signs);
    if (view.context !== null && view.context.source !== 'transcript')
      look.points.push(...this.#session.seen(view.context));
    this.#compare(view, nowMs, look);
    if (look.events.length > 0 || look.changed) look.sessions.push(...this.#session.row(view));
    this.#view = view;
    return look;
  }

  #subagentPlace(transcript: string): { folder: string; fileOf: (id: string) => string } | null {
    const source = this.#client.sources.subagents;
    return source === undefined ? null : { folder: source.folder(transcript), fileOf: (id) => source.files(id).record };
  }

  #pollSubagents(): Map<string, SubagentSign> {
    if (this.#session.transcript === null || this.#parts.subagents === null) return new Map();
    const running = [...this.#session.facts.background.values()]
      .filter((work) => work.kind === 'subagent')
      .map((work) => work.id);
    const inForeground = [...this.#session.facts.calls.values()].some((call) => isSubagentTool(call.tool));
    return this.#parts.subagents.poll(this.#session.transcript, running, inForeground);
  }

  #signs(observation: Observation, subagents: Map<string, SubagentSign>, senses: Senses, nowMs: number): AgentSigns {
    const { transcript, alive } = observation;
    const context = this.#transcriptContext(this.#session.storedWindow);
    const signs: AgentSigns = {
      nowMs,
      alive,
      // A process found alive says so now, but has been there since it was started.
      processSeenAtMs: alive && this.#view === null ? this.#parts.startedAtMs : observation.seenAtMs,
      suspended: observation.suspended,
      registry: observation.registry,
      // In the middle of a backlog the facts are those of some moment long ago.
      session:
        transcript === null || this.#hasBacklog ? null : { facts: this.#session.facts, seenAtMs: transcript.seenAtMs },
      hooks: this.#parts.inbox.facts(this.#session.id),
      screen: senses.screen,
      subagents,
      recordIsAll:
        observation.trouble.transcript === null &&
        this.#client.sources.registry === undefined &&
        this.#client.sources.hooks === undefined,
      compactAskedMs: observation.compactAskedMs,
      contextShare: context === null ? null : context.used / context.usable,
    };
    return believedSigns(signs, this.#allOff());
  }

  #transcriptContext(told: number | null): ContextReading | null {
    return this.#off('transcript').has('context') ? null : transcriptContext(this.#seen, this.#session.facts, told);
  }

  #describe(observation: Observation, signs: AgentSigns): Sighting {
    const { host, inbox, startedAtMs, authority } = this.#parts;
    const reading = this.#judge(signs);
    // Kept, for a picture is taken only after a silence.
    this.#heardMs = Math.max(this.#heardMs ?? 0, heardOnScreen(signs.screen, reading) ?? 0) || null;
    return describeAgent({
      name: this.name,
      host,
      authority: authority(this.#seen.place?.pane.session ?? null),
      startedAtMs,
      seen: this.#seen,
      sessionId: this.#session.id,
      transcript: this.#session.transcript,
      facts: this.#session.facts,
      transcriptContext: this.#transcriptContext(this.#session.storedWindow),
      answeredContext: this.#session.answer,
      observation,
      signs,
      reading,
      heardMs: this.#heardMs,
      inbox,
      off: this.#allOff(),
      bands: this.#parts.bands(),
      report: this.#parts.report(),
      isBehind: this.#hasBacklog,
      last: this.lastView,
    });
  }

  #judge(signs: AgentSigns): StateReading {
    const reading = judgeState(signs);
    const previous = this.#view?.reading ?? this.#sameAsStored(reading);
    // The same state goes on: it keeps its beginning, however the source words it.
    if (previous !== null && isSameState(previous, reading)) {
      const { state, source } = reading;
      // A picture only tells since when it is taken. What its record has later than that was another wait.
      const isPictured = state === 'waiting' && source === 'screen' && previous.sinceMs < reading.sinceMs;
      const isSameWait = isPictured && (signs.session?.facts.lastActivityMs ?? 0) <= previous.sinceMs;
      const goesOn = state === 'ended' || state === 'unknown' || isSameWait;
      return { ...reading, sinceMs: goesOn ? previous.sinceMs : reading.sinceMs };
    }
    return reading;
  }

  #sameAsStored(reading: StateReading): StateReading | null {
    const stored = this.#before?.view.reading;
    return stored !== undefined && isSameState(stored, reading) ? stored : null;
  }

  #allOff(): OffFacts {
    return this.#parts.off(this.lastView?.clientVersion ?? null);
  }

  #off(source: Source): ReadonlySet<SourceFact> {
    return this.#allOff().get(source) ?? none;
  }

  /** What its registry says, as far as it may be gone by. */
  believed(activity: RegistryActivity | null): RegistryActivity | null {
    return activity === null ? null : believedActivity(activity, this.#off('registry'));
  }

  #compare(view: Sighting, nowMs: number, look: Look): void {
    const previous = this.lastView;
    if (previous === null) {
      const where: Json = view.tmux === null ? null : { ...view.tmux };
      look.events.push(
        this.#events.of(
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
        this.#events.of(sinceMs, source, 'state', { state, detail, tool, from, confidence }, view.sessionId),
      );
    }
    if (!isSameStay(previous?.band ?? null, view.band))
      look.events.push(this.#events.ofBand(previous, view, this.#parts.bands(), nowMs));
    const print = fingerprint(view);
    look.changed = print !== this.#print;
    this.#print = print;
  }
}

const none: ReadonlySet<SourceFact> = new Set();

function isNamedAsUsual(name: string, { place }: SeenAgent): boolean {
  return place === null || isNamedAfter(name, place.pane.session);
}

function isSamePlace(a: SeenAgent['place'], b: SeenAgent['place']): boolean {
  if (a === null || b === null) return a === b;
  return a.socket === b.socket && a.pane.id === b.pane.id && a.pane.session === b.pane.session;
}
