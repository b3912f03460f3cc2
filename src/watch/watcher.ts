import type { AgentClient } from '../clients/client.ts';
import type { Config } from '../config/schema.ts';
import type { Board } from '../findings/board.ts';
import type { Examiner } from '../findings/examiner.ts';
import type { Authority, ClientName, ContextReport, OffFacts, Sighting } from '../model/agent.ts';
import type { Counters } from '../model/counters.ts';
import type { StoredAgent } from '../model/store.ts';
import type { Clock, Files, Processes, ProcessId, ProcessInfo } from '../model/world.ts';
import { AgentFollower } from '../sense/agent-follower.ts';
import { type Fleet, isDead, registryBytesMax, type SeenAgent, type Sweep } from '../sense/fleet.ts';
import { FolderWatches } from '../sense/folder-watches.ts';
import type { Inbox } from '../sense/inbox.ts';
import { Screens } from '../sense/screens.ts';
import { subagentsOf } from '../sense/subagents.ts';
import { TypedCommands } from '../sense/typed-commands.ts';
import { AgentInbox } from './agent-inbox.ts';
import type { Look } from './agent-session.ts';
import { authorityNow, type GroundedAuthority } from './authority.ts';
import { lastPlace, leftOff, lostAgent } from './lost-agent.ts';
import { nameFor, projectFor } from './names.ts';
import { WatchedAgent } from './watched-agent.ts';

/** An ended agent is still shown for a day, so that the morning sees what the night ended. */
const endedShownMs = 24 * 3_600_000;
const descendantsMax = 200;
/** Looks come sooner while anybody writes; whether all the others still go on is asked no more often than that. */
const endsEveryMs = 900;

export interface WatcherParts {
  host: string;
  clients: readonly AgentClient[];
  fleet: Fleet;
  inbox: Inbox;
  processes: Processes;
  files: Files;
  clock: Clock;
  counters: Counters;
  config: () => Config;
  /** With what the file of the project in one of these directories says. */
  configFor: (directories: () => readonly (string | null)[]) => Config;
  /** More rows wait than the database takes at the moment. */
  congested: () => boolean;
  /** A folder of an agent changed: look soon. */
  changed: () => void;
  /** One agent could not be looked at; the others were. */
  failed: (error: unknown) => void;
  off: (client: ClientName, version: string | null) => OffFacts;
  /** What people said may be done to agents. */
  said: ReadonlyMap<string, Authority>;
  board: Pick<Board, 'isPending' | 'isQuiet' | 'hasPending'>;
  examiner: Pick<Examiner, 'limits'>;
  /** What another program wrote of the context of an agent. */
  report: (agent: string) => ContextReport | null;
}

/** One agent was looked at. */
export interface Looked {
  agent: WatchedAgent;
  /** The sighting before, be it an earlier run's. */
  before: Sighting | null;
  view: Sighting;
  look: Look;
}

/** Looks at all agents, tick by tick, and says what it saw. */
export class Watcher {
  readonly #parts: WatcherParts;
  readonly #watches: FolderWatches;
  readonly #agents = new Map<string, WatchedAgent>();
  /** The last view of agents that are gone, by name. */
  readonly #ended = new Map<string, Sighting>();
  readonly #stored = new Map<string, StoredAgent>();
  readonly #typed: TypedCommands;
  readonly #screens: Screens;
  #servers: Sweep['servers'] = [];
  /** Agents whose files have changed since they were looked at. */
  readonly #dirty = new Set<string>();
  #endsLookedMs = Number.NEGATIVE_INFINITY;

  constructor(parts: WatcherParts) {
    this.#parts = parts;
    this.#typed = new TypedCommands(parts.files);
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
      if (agent.view.reading.state === 'ended') this.#ended.set(agent.view.agent, agent.view);
      else this.#stored.set(processKey(agent.view.process), agent);
    }
  }

  /** The wall clock was set, or the machine slept: who has ended is shown for as long as before. */
  clockSet(byMs: number, nowMs: number): void {
    for (const [name, view] of this.#ended) {
      const { reading } = view;
      this.#ended.set(name, { ...view, reading: { ...reading, sinceMs: reading.sinceMs + byMs } });
    }
    this.touchAll();
    if (byMs < 0) for (const agent of this.#agents.values()) agent.clockSetBack(-byMs, nowMs);
  }

  /** One full pass. The looks are taken as they are asked for, one after the other. */
  async tick(): Promise<Iterable<Looked>> {
    const sweep = await this.#parts.fleet.sweep();
    this.#servers = sweep.servers;
    const hung = new Set(sweep.servers.filter((server) => server.failure === 'hung').map((server) => server.socket));
    const found = new Map(sweep.agents.map((seen) => [processKey(seen.process), seen]));
    for (const [key, agent] of this.#agents) {
      const seen = found.get(key);
      const { place } = agent.seen;
      // A server that does not answer has not lost its panes: its agents are then found by their registry alone.
      if (place !== null && hung.has(place.socket) && (seen?.place ?? null) === null) continue;
      if (seen !== undefined) this.#place(key, agent, seen);
      // One that is gone was last seen where it was.
      else if (place !== null && this.#lives(key, agent.seen.process.pid))
        this.#place(key, agent, { ...agent.seen, place: null });
    }
    return this.#lookAtAll(found, hung);
  }

  #place(key: string, agent: WatchedAgent, seen: SeenAgent): void {
    if (agent.place(seen)) this.#dirty.add(key);
  }

  *#lookAtAll(found: ReadonlyMap<string, SeenAgent>, hung: ReadonlySet<string>): Iterable<Looked> {
    this.#takeInLost();
    this.#readInbox();
    const nowMs = this.#parts.clock.nowMs();
    const monotonicMs = this.#parts.clock.monotonicMs();
    // Those that are there went on a moment ago.
    this.#endsLookedMs = monotonicMs;
    const moved = [...this.#agents].filter(([key, agent]) => {
      const seen = found.get(key);
      return seen === undefined || !this.#isAtRest(key, agent, seen.process, nowMs, monotonicMs);
    });
    // Those known first: one that is gone leaves its name to whoever came in its place.
    yield* this.#look(
      moved.map(([key]) => key),
      found,
    );
    const fresh = [...found].filter(([key]) => !this.#agents.has(key));
    for (const [key, seen] of fresh) this.#agents.set(key, this.#welcome(key, this.#whereItIs(key, seen, hung)));
    yield* this.#look(fresh.map(([key]) => key));
    const folders = [...this.#agents.values()].flatMap((agent) => agent.folders);
    this.#watches.keep(new Set([this.#parts.inbox.dir, ...folders]));
    this.#forgetLongEnded();
  }

  /** Looks at those of the agents already known that may have something new to tell. */
  *pulse(): Iterable<Looked> {
    this.#readInbox();
    const nowMs = this.#parts.clock.nowMs();
    const monotonicMs = this.#parts.clock.monotonicMs();
    const forEnds = monotonicMs - this.#endsLookedMs >= endsEveryMs;
    if (forEnds) this.#endsLookedMs = monotonicMs;
    yield* this.#look(
      [...this.#agents].filter(([key, agent]) => this.#mayBeNew(key, agent, nowMs, forEnds)).map(([key]) => key),
    );
  }

  /** Nothing has come from it, nothing is wrong with it, and nothing of it is other than before. */
  #isAtRest(key: string, agent: WatchedAgent, process: ProcessInfo, nowMs: number, monotonicMs: number): boolean {
    const { inbox, board } = this.#parts;
    return (
      !this.#dirty.has(key) &&
      process.runState !== 'T' &&
      !inbox.hasFor(process.pid) &&
      board.isQuiet(agent.name) &&
      agent.isAtRest(nowMs, monotonicMs)
    );
  }

  #mayBeNew(key: string, agent: WatchedAgent, nowMs: number, forEnds: boolean): boolean {
    const { pid } = agent.seen.process;
    return (
      this.#dirty.has(key) ||
      !agent.isSettled(nowMs, this.#isWatched) ||
      this.#parts.board.isPending(agent.name) ||
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

  /** Something changed that all of them are seen by. */
  touchAll(): void {
    for (const key of this.#agents.keys()) this.#dirty.add(key);
  }

  #noticed(folder: string, name: string | null): void {
    for (const [key, agent] of this.#agents) if (agent.isAbout(folder, name)) this.#dirty.add(key);
    this.#parts.changed();
  }

  #readInbox(): void {
    if (this.#parts.inbox.look(this.#parts.clock.nowMs())) this.#parts.changed();
  }

  /** `found`: processes just seen. */
  *#look(keys: string[], found: ReadonlyMap<string, SeenAgent> = new Map()): Iterable<Looked> {
    const nowMs = this.#parts.clock.nowMs();
    for (const key of keys) {
      let looked: Looked | null = null;
      try {
        looked = this.#lookAt(key, nowMs, found.get(key)?.process ?? null);
      } catch (error) {
        this.#parts.failed(error);
      }
      if (looked === null) continue;
      yield looked;
      this.#lookedAt(key, looked);
    }
  }

  /** A living agent by its name. */
  agent(name: string): WatchedAgent | null {
    for (const agent of this.#agents.values()) if (agent.name === name) return agent;
    return null;
  }

  living(): WatchedAgent[] {
    return [...this.#agents.values()];
  }

  views(): Sighting[] {
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
      authority: (session) => this.#authority(name, session).authority,
      stored,
      off: (version) => this.#parts.off(seen.client.name, version),
      bands: () => this.#parts.config().bands,
      limits: () => this.#parts.examiner.limits,
      report: () => this.#parts.report(name),
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

  /** What may be done to it, and by which rule or whose word. */
  grounds(name: string): GroundedAuthority {
    return this.#authority(name, this.agent(name)?.seen.place?.pane.session ?? null);
  }

  /** `session`: the tmux session it is in at this moment. */
  #authority(name: string, session: string | null): GroundedAuthority {
    const others = () =>
      this.views()
        .filter((view) => view.agent !== name && view.reading.state !== 'ended')
        .flatMap(({ tmux }) => (tmux === null ? [] : [tmux.session]));
    const said = this.#parts.said.get(name) ?? null;
    return authorityNow(name, { session, said, config: this.configFor(name), others });
  }

  /** Where it is: as its process has it, and as it says itself. */
  configFor(name: string): Config {
    return this.#parts.configFor(() => {
      const agent = this.agent(name);
      if (agent === null) return [];
      return [this.#parts.processes.directory(agent.seen.process.pid), agent.lastView?.cwd ?? null];
    });
  }

  #lookAt(key: string, nowMs: number, process: ProcessInfo | null): Looked | null {
    const agent = this.#agents.get(key);
    // What is in its file will still be there.
    if (agent === undefined || (agent.hasBacklog && this.#parts.congested())) return null;
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
    const isNew = look.changed || look.events.length > 0;
    agent.rest.looked(agent.view, isNew, this.#parts.clock.monotonicMs());
    return agent.view === null ? null : { agent, before, view: agent.view, look };
  }

  #lookedAt(key: string, { agent, view, look }: Looked): void {
    if (view.reading.state === 'ended' && !look.more) {
      this.#agents.delete(key);
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

  /** Something was seen that has to be seen again before it is told. */
  get hasPending(): boolean {
    return this.#parts.board.hasPending || [...this.#agents.values()].some((agent) => agent.isBehind);
  }

  #forgetLongEnded(): void {
    const nowMs = this.#parts.clock.nowMs();
    for (const [name, view] of this.#ended) if (nowMs - view.reading.sinceMs > endedShownMs) this.#ended.delete(name);
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
