import type { AgentClient } from '../clients/client.ts';
import type { Config } from '../config/schema.ts';
import type { AgentView, Authority, ClientName, Finding, Source } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import type { Counters } from '../model/counters.ts';
import type { WatchEvent } from '../model/event.ts';
import type { HostEntry } from '../model/host.ts';
import type { SessionEvent } from '../model/session-event.ts';
import type { SpawnSigns } from '../model/spawn.ts';
import type { StoreBatch, StoredAgent } from '../model/store.ts';
import type { Clock, Files, Processes, ProcessId, ProcessInfo } from '../model/world.ts';
import { AgentFollower } from '../sense/agent-follower.ts';
import { type Fleet, isDead, registryBytesMax, type SeenAgent, type Sweep } from '../sense/fleet.ts';
import { FolderWatches } from '../sense/folder-watches.ts';
import type { Inbox } from '../sense/inbox.ts';
import { Screens } from '../sense/screens.ts';
import { subagentsOf } from '../sense/subagents.ts';
import { TypedCommands } from '../sense/typed-commands.ts';
import { AgentInbox, type HeardHook } from './agent-inbox.ts';
import { Examiner } from './examiner.ts';
import { HealthRows } from './health-rows.ts';
import { lastPlace, leftOff, lostAgent } from './lost-agent.ts';
import { nameFor, projectFor } from './names.ts';
import { WatchedAgent } from './watched-agent.ts';

/** An ended agent is still shown for a day, so that the morning sees what the night ended. */
const endedShownMs = 24 * 3_600_000;
const descendantsMax = 200;
/** Looks come sooner while anybody writes; whether all the others still go on is asked no more often than that. */
const endsEveryMs = 900;

export interface WatcherParts {
  host: HostEntry;
  clients: readonly AgentClient[];
  fleet: Fleet;
  inbox: Inbox;
  processes: Processes;
  files: Files;
  clock: Clock;
  counters: Counters;
  config: () => Config;
  record: (batch: StoreBatch) => void;
  /** More rows wait than the database takes at the moment. */
  congested: () => boolean;
  /** A folder of an agent changed: look soon. */
  changed: () => void;
  /** One agent could not be looked at; the others were. */
  failed: (error: unknown) => void;
  told: (agent: string, event: SessionEvent) => void;
  hooked: (agent: string, hook: HeardHook) => void;
  broken: (client: ClientName, version: string | null) => ReadonlySet<Source>;
  /** `session`: the tmux session it is in at this moment. */
  authority: (agent: string, session: string | null) => Authority;
  unansweredSince: (agent: string) => number | null;
  /** A finding's id, the same while its trouble lasts. */
  idFor: (agent: string, check: CheckName, subject: string | null) => string;
  /** There is an open incident about it. */
  isOpen: (agent: string, check: CheckName, subject: string | null) => boolean;
  /** What an agent's own records say of its background work. */
  spawned: (view: AgentView, signs: SpawnSigns | null) => void;
}

/** The loop's inside: sense, detect, record. (Deciding and acting come between.) */
export class Watcher {
  readonly #parts: WatcherParts;
  readonly #watches: FolderWatches;
  readonly #agents = new Map<string, WatchedAgent>();
  /** The last view of agents that are gone, by name. */
  readonly #ended = new Map<string, AgentView>();
  readonly #stored = new Map<string, StoredAgent>();
  readonly #healthRows: HealthRows;
  readonly #typed: TypedCommands;
  readonly #screens: Screens;
  readonly #examiner: Examiner;
  #servers: Sweep['servers'] = [];
  /** Agents whose files have changed since they were looked at. */
  readonly #dirty = new Set<string>();
  #endsLookedMs = Number.NEGATIVE_INFINITY;

  constructor(parts: WatcherParts) {
    this.#parts = parts;
    this.#typed = new TypedCommands(parts.files);
    this.#healthRows = new HealthRows(parts.config);
    this.#examiner = new Examiner(parts);
    this.#watches = new FolderWatches(parts.files, (folder, name) => this.#noticed(folder, name));
    const capture = (socket: string, pane: string) => parts.fleet.capture(socket, pane);
    this.#screens = new Screens({ clock: parts.clock, capture, changed: parts.changed });
  }

  get servers(): Sweep['servers'] {
    return this.#servers;
  }

  /** What an earlier run knew. Its agents are either found alive again or ended while nobody watched. */
  restore(stored: StoredAgent[]): void {
    for (const agent of stored) {
      if (agent.view.reading.state === 'ended') this.#ended.set(agent.view.agent, this.#asItEnded(agent.view));
      else this.#stored.set(processKey(agent.view.process), agent);
    }
  }

  /** Nobody looks at it again: what was found at its end stands while its incident is open. */
  #asItEnded(view: AgentView): AgentView {
    const check = 'ended-unexpectedly';
    if (!this.#parts.isOpen(view.agent, check, null)) return view;
    const { sinceMs } = view.reading;
    const finding: Finding = {
      id: this.#parts.idFor(view.agent, check, null),
      check,
      subject: null,
      standing: 'seen',
      severity: 'critical',
      confidence: 0.9,
      sinceMs,
      evidence: [{ source: 'process', atMs: sinceMs, text: 'ended before Watchkeeper was started anew' }],
      action: null,
      slots: null,
    };
    return { ...view, findings: [finding] };
  }

  /** The wall clock was set, or the machine slept: who has ended is shown for as long as before. */
  clockSet(byMs: number, nowMs: number): void {
    for (const { reading } of this.#ended.values()) reading.sinceMs += byMs;
    if (byMs < 0) for (const agent of this.#agents.values()) agent.clockSetBack(-byMs, nowMs);
  }

  /** One full pass. */
  async tick(): Promise<WatchEvent[]> {
    const sweep = await this.#parts.fleet.sweep();
    this.#servers = sweep.servers;
    const hung = new Set(sweep.servers.filter((server) => server.failure === 'hung').map((server) => server.socket));
    const found = new Map(sweep.agents.map((seen) => [processKey(seen.process), seen]));
    for (const [key, agent] of this.#agents) {
      const seen = found.get(key);
      const { place } = agent.seen;
      // A server that does not answer has not lost its panes: its agents are then found by their registry alone.
      if (place !== null && hung.has(place.socket) && (seen?.place ?? null) === null) continue;
      if (seen !== undefined) agent.place(seen);
      // One that is gone was last seen where it was.
      else if (place !== null && this.#lives(key, agent.seen.process.pid)) agent.place({ ...agent.seen, place: null });
    }
    this.#takeInLost();
    this.#readInbox();
    // Those known first: one that is gone leaves its name to whoever came in its place.
    const events = this.#look([...this.#agents.keys()], found);
    const fresh = [...found].filter(([key]) => !this.#agents.has(key));
    for (const [key, seen] of fresh) this.#agents.set(key, this.#welcome(key, this.#whereItIs(key, seen, hung)));
    events.push(...this.#look(fresh.map(([key]) => key)));
    const folders = [...this.#agents.values()].flatMap((agent) => agent.folders);
    this.#watches.keep(new Set([this.#parts.inbox.dir, ...folders]));
    this.#forgetLongEnded();
    return events;
  }

  /** Looks at those of the agents already known that may have something new to tell. */
  pulse(): WatchEvent[] {
    this.#readInbox();
    const nowMs = this.#parts.clock.nowMs();
    const monotonicMs = this.#parts.clock.monotonicMs();
    const forEnds = monotonicMs - this.#endsLookedMs >= endsEveryMs;
    if (forEnds) this.#endsLookedMs = monotonicMs;
    return this.#look(
      [...this.#agents].filter(([key, agent]) => this.#mayBeNew(key, agent, nowMs, forEnds)).map(([key]) => key),
    );
  }

  #mayBeNew(key: string, agent: WatchedAgent, nowMs: number, forEnds: boolean): boolean {
    const { pid } = agent.seen.process;
    return (
      this.#dirty.has(key) ||
      !agent.isSettled(nowMs, this.#isWatched) ||
      this.#examiner.isPending(agent.name) ||
      this.#parts.inbox.hasFor(pid) ||
      // No file tells of it: left to the next tick, it would be seen late.
      (forEnds && !this.#parts.processes.goesOn(pid))
    );
  }

  readonly #isWatched = (folder: string): boolean => this.#watches.has(folder);

  /** Something about it changed that its files do not tell. */
  touch(name: string): void {
    for (const [key, agent] of this.#agents) if (agent.name === name) this.#dirty.add(key);
    this.#parts.changed();
  }

  #noticed(folder: string, name: string | null): void {
    for (const [key, agent] of this.#agents) if (agent.isAbout(folder, name)) this.#dirty.add(key);
    this.#parts.changed();
  }

  #readInbox(): void {
    if (this.#parts.inbox.look(this.#parts.clock.nowMs())) this.#parts.changed();
  }

  /** `found`: processes just seen. */
  #look(keys: string[], found: ReadonlyMap<string, SeenAgent> = new Map()): WatchEvent[] {
    const nowMs = this.#parts.clock.nowMs();
    this.#examiner.pass();
    const batch: StoreBatch = { agents: [], sessions: [], events: [], spawns: [], points: [], checks: [] };
    for (const key of keys) {
      try {
        this.#lookAt(key, nowMs, found.get(key)?.process ?? null, batch);
      } catch (error) {
        this.#parts.failed(error);
      }
    }
    if (batch.agents.length + batch.events.length + batch.points.length + batch.checks.length > 0)
      this.#parts.record(batch);
    return batch.events;
  }

  /** A living agent by its name. */
  agent(name: string): WatchedAgent | null {
    return [...this.#agents.values()].find((agent) => agent.name === name) ?? null;
  }

  living(): WatchedAgent[] {
    return [...this.#agents.values()];
  }

  views(): AgentView[] {
    const living = [...this.#agents.values()].map((agent) => agent.view).filter((view) => view !== null);
    // Not found again yet, but alive: what an earlier run knew of it, with its age.
    const unseen = [...this.#stored.values()].map(({ view }) => view);
    return [...living, ...unseen, ...this.#ended.values()].sort((a, b) => a.agent.localeCompare(b.agent));
  }

  close(): void {
    this.#watches.close();
    this.#parts.fleet.close();
  }

  /** In a server that does not answer: where an earlier run saw it. */
  #whereItIs(key: string, seen: SeenAgent, hung: ReadonlySet<string>): SeenAgent {
    const view = this.#stored.get(key)?.view ?? null;
    if (seen.place !== null || view?.tmux == null || !hung.has(view.tmux.socket)) return seen;
    return { ...seen, place: lastPlace(view) };
  }

  #welcome(key: string, seen: SeenAgent): WatchedAgent {
    const { processes, host, clock, counters, files } = this.#parts;
    const stored = this.#stored.get(key) ?? null;
    this.#stored.delete(key);
    const taken = new Set([...this.#agents.values()].map((agent) => agent.name));
    for (const other of this.#stored.values()) taken.add(other.view.agent);
    const project = projectFor(seen.place?.pane.session ?? null, null);
    const name = stored?.view.agent ?? nameFor(seen, this.#outsideProject(seen) ?? project, taken);
    this.#ended.delete(name);
    const sources = { processes, files, clock, counters, typed: this.#typed };
    return new WatchedAgent({
      name,
      host,
      seen,
      follower: new AgentFollower(sources, seen, stored === null ? null : leftOff(stored.view)),
      subagents: subagentsOf(seen.client.sources, files, counters),
      inbox: inboxOf(stored, counters),
      startedAtMs: stored?.view.startedAtMs ?? processes.startedAtMs(seen.process),
      authority: this.#parts.authority,
      stored,
      told: this.#parts.told,
      hooked: this.#parts.hooked,
      broken: (version) => this.#parts.broken(seen.client.name, version),
      bands: () => this.#parts.config().bands,
      limits: () => this.#examiner.limits,
    });
  }

  /** Outside tmux the name comes from the directory, which only the registry tells. */
  #outsideProject(seen: SeenAgent): string | null {
    if (seen.place !== null || seen.configDir === null) return null;
    const { registry } = seen.client.sources;
    if (registry === undefined) return null;
    const read = this.#parts.files.readSmall(registry.file(seen.configDir, seen.process.pid), registryBytesMax);
    const entry = read.ok ? registry.parse(read.text) : null;
    return entry === null ? null : projectFor(null, entry.cwd);
  }

  #lookAt(key: string, nowMs: number, process: ProcessInfo | null, batch: StoreBatch): void {
    const agent = this.#agents.get(key);
    if (agent === undefined) return;
    // What is in its file will still be there.
    if (agent.hasBacklog && this.#parts.congested()) return;
    this.#dirty.delete(key);
    const before = agent.lastView;
    const { process: owner, place } = agent.seen;
    const picture = agent.seen.client.sources.screen;
    const look = agent.look(nowMs, {
      inbox: this.#parts.inbox.claim(owner.pid, owner.startTicks),
      screen:
        place !== null && picture !== undefined && agent.wantsScreen
          ? this.#screens.look(picture, place.socket, place.pane.id, screenEveryMs(agent))
          : null,
      process,
      taken: () => this.#takenSessions(agent),
    });
    const view = agent.view;
    if (view === null) return;
    view.findings = this.#examiner.examine(view, agent, nowMs);
    batch.events.push(...look.events);
    batch.sessions.push(...look.sessions);
    batch.points.push(...look.points);
    batch.checks.push(...this.#healthRows.rows(before, view, nowMs));
    if (look.changed || look.events.length > 0) batch.agents.push(view);
    this.#parts.spawned(view, agent.spawned);
    if (view.reading.state === 'ended' && !look.more) {
      this.#agents.delete(key);
      this.#healthRows.forget(agent.name);
      this.#examiner.ended(agent.name);
      this.#ended.set(agent.name, view);
    }
    if (look.more) {
      this.#dirty.add(key);
      this.#parts.changed();
    }
  }

  /**
   * The sessions that the others are known to be in; null when the agent is not alone: another one in the same directory,
   * or a client that it runs itself, may be in any.
   */
  #takenSessions(agent: WatchedAgent): ReadonlySet<string> | null {
    const { processes } = this.#parts;
    const taken = new Set<string>();
    const directory = processes.directory(agent.seen.process.pid);
    for (const other of this.#agents.values()) {
      if (other === agent) continue;
      if (other.sessionId !== null) taken.add(other.sessionId);
      if (other.hasRegistry || other.seen.configDir !== agent.seen.configDir) continue;
      if (processes.directory(other.seen.process.pid) === directory) return null;
    }
    return this.#runsClient(agent.seen) ? null : taken;
  }

  #runsClient({ client, process }: SeenAgent): boolean {
    const { processes } = this.#parts;
    const below = processes.children(process.pid);
    for (let at = 0; at < below.length && at < descendantsMax; at += 1) {
      const info = processes.info(below[at] ?? 0);
      if (info !== null && client.recognition.mayBe(info)) return true;
      if (info !== null) below.push(...processes.children(info.pid));
    }
    return false;
  }

  /** A dead process may still wait for its parent. */
  #lives(key: string, pid: number): boolean {
    const info = this.#parts.processes.info(pid);
    return info !== null && processKey(info) === key && !isDead(info);
  }

  /** Agents of an earlier run whose process is no longer there: their last look is at what they wrote since. */
  #takeInLost(): void {
    for (const [key, { view }] of this.#stored) {
      // Still there but not found, such as in a tmux server that hangs: wait.
      if (this.#lives(key, view.process.pid)) continue;
      const client = this.#parts.clients.find((candidate) => candidate.name === view.client);
      if (client === undefined) this.#stored.delete(key);
      else this.#agents.set(key, this.#welcome(key, lostAgent(view, client)));
    }
  }

  /** Why the checks that found nothing found nothing. */
  fine(agent: string): { check: CheckName; reason: string }[] {
    return this.#examiner.fine(agent);
  }

  /** Something was seen that has to be seen again before it is told. */
  get hasPending(): boolean {
    return this.#examiner.hasPending || [...this.#agents.values()].some((agent) => agent.isBehind);
  }

  #forgetLongEnded(): void {
    const nowMs = this.#parts.clock.nowMs();
    for (const [name, view] of this.#ended) {
      if (nowMs - view.reading.sinceMs <= endedShownMs) continue;
      this.#ended.delete(name);
      this.#examiner.forget(name);
    }
  }
}

/** Where the registry tells dialogs and turns, a picture only adds what lasts for long. */
function screenEveryMs(agent: WatchedAgent): number {
  if (!agent.hasRegistry) return 400;
  return agent.view?.reading.detail === 'tool' ? 3_000 : 1_000;
}

function inboxOf(stored: StoredAgent | null, counters: Counters): AgentInbox {
  const inbox = new AgentInbox(counters);
  const sessionId = stored?.view.sessionId ?? null;
  if (stored !== null && sessionId !== null && stored.hooks.length > 0)
    inbox.restore({ sessionId, cwd: stored.view.cwd }, stored.hooks);
  return inbox;
}

function processKey(process: ProcessId): string {
  return `${process.bootId}:${process.pid}:${process.startTicks}`;
}
