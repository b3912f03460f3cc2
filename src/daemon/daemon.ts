import { EventEmitter } from 'node:events';
import { rmSync } from 'node:fs';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { keepAllowances } from '../actions/allowances.ts';
import type { AgentClient } from '../clients/client.ts';
import { clients } from '../clients/clients.ts';
import { inboxFilesMax } from '../clients/inbox.ts';
import { configDirsOf } from '../config/clients.ts';
import { configAt } from '../config/load.ts';
import { remember } from '../config/memory.ts';
import { type ConfigPlaces, configWayOut } from '../config/places.ts';
import { formatProblem } from '../config/problem.ts';
import type { ConfigWatch } from '../config/watch.ts';
import { quietMs } from '../decide/gate.ts';
import { Board } from '../findings/board.ts';
import { Examiner } from '../findings/examiner.ts';
import { HealthRows } from '../findings/health-rows.ts';
import type { HandoffNews } from '../handoff/news.ts';
import { type Home, isPaused, removeDaemonRecord, writeDaemonRecord } from '../home/home.ts';
import { fileLog, type Log } from '../home/log.ts';
import { version } from '../home/version.ts';
import type { Authority, Sighting } from '../model/agent.ts';
import type { Counters } from '../model/counters.ts';
import type { WatchEvent } from '../model/event.ts';
import type { HookInboxItem } from '../model/hook.ts';
import type { HostEntry } from '../model/host.ts';
import { fail, ok, type Result } from '../model/result.ts';
import { type CheckRow, emptyBatch, type Store, type StoreBatch } from '../model/store.ts';
import { shown } from '../model/text.ts';
import type { Processes } from '../model/world.ts';
import { type AgentRecord, readAgentRecord } from '../record/agent-record.ts';
import { whyKept } from '../record/redact.ts';
import { ContextReports } from '../rows/context-reports.ts';
import type { Database } from '../rows/database.ts';
import { Journal } from '../rows/journal.ts';
import type { OddRows } from '../rows/odd-rows.ts';
import { Retention } from '../rows/retention.ts';
import { Saver } from '../rows/saver.ts';
import { Spool } from '../rows/spool.ts';
import { WaitingRows } from '../rows/waiting-rows.ts';
import { Words } from '../rows/words.ts';
import { bootMs, systemClock } from '../sense/clock.ts';
import { ownFiles } from '../sense/files.ts';
import { Fleet } from '../sense/fleet.ts';
import { Inbox } from '../sense/inbox.ts';
import { Outputs } from '../sense/outputs.ts';
import { linuxProcesses } from '../sense/processes.ts';
import { userTmux } from '../sense/tmux/servers.ts';
import { AgentHooksLook } from '../setup/agent-hooks.ts';
import { Spawns } from '../spawns/spawns.ts';
import { FoundBroken } from '../watch/conformance-results.ts';
import { type Looked, Watcher } from '../watch/watcher.ts';
import { WatchfulClock } from '../watch/watchful-clock.ts';
import { Acting } from './acting.ts';
import { beginningOf } from './beginning.ts';
import { type ControlServer, type Reply, refusalLine, serveControl } from './control.ts';
import { Loop } from './loop.ts';
import type { News } from './news.ts';
import { Newsroom } from './newsroom.ts';
import { QuietStart } from './quiet-start.ts';
import type { Doors } from './requests/doors.ts';
import { answerRequest, readRequest } from './requests/read.ts';
import { followsEvents } from './requests/request.ts';
import { statusDocument } from './requests/status.ts';
import { eventDocument, type StatusDocument } from './status.ts';

export type StartFailure = 'already-running' | 'home' | 'config' | 'database' | 'control' | 'platform';

export interface DaemonOptions {
  home: Home;
  places: ConfigPlaces;
  environment: NodeJS.ProcessEnv;
  tmuxSockets: string[];
  /** Nothing is done in this run, whatever the configuration says. */
  watchOnly: boolean;
  /** One round and no more. */
  isOnce: boolean;
  /** As root: the database's own user is made where it is missing. */
  createUser: boolean;
  /** For the person at the terminal: what happens on the way up, and every event after. */
  progress(line: string): void;
  event(event: WatchEvent): void;
  notice(line: string): void;
  /** What is worth telling, in its order. */
  news(news: News): void;
}

export interface RunningDaemon {
  /** Resolves when everything has stopped. */
  stopped: Promise<void>;
  stop(keepDb: boolean): void;
  status(): StatusDocument;
  /** Resolves when everything seen was seen often enough to be told. */
  looked(): Promise<void>;
  /** Resolves when no action is under way. */
  settled(): Promise<void>;
}

const congestedRows = 10_000;
/** For one round without a daemon: what was seen once is seen again by then. */
const lookedMsMax = 10_000;
const lookedEveryMs = 100;
/** A burst of changes in the agents' folders is no reason to look at every output file again. */
const spawnsPulseMs = 400;
/** So old may be what `status` says of hooks: it is asked often. */
const hooksShownMs = 5_000;
/** How often other hosts may hear that this one lives. */
const lifeEveryMs = 10_000;

export class Daemon {
  readonly #options: DaemonOptions;
  readonly #config: ConfigWatch;
  readonly #database: Database;
  readonly #store: Store;
  readonly #log: Log;
  readonly #counters: Counters;
  readonly #processes: Processes = linuxProcesses();
  readonly #host: HostEntry;
  readonly #clock = new WatchfulClock(systemClock);
  readonly #sinceMs = this.#clock.nowMs();
  readonly #quiet = new QuietStart(this.#clock);
  readonly #fleet: Fleet;
  readonly #board: Board;
  readonly #examiner: Examiner;
  readonly #healthRows: HealthRows;
  readonly #reports: ContextReports;
  readonly #watcher: Watcher;
  readonly #journal: Journal;
  readonly #saver: Saver;
  readonly #words: Words;
  readonly #retention: Retention;
  readonly #acting: Acting;
  readonly #newsroom: Newsroom;
  readonly #spawns: Spawns;
  readonly #doors: Doors;
  readonly #loop: Loop;
  readonly #hooks: AgentHooksLook;
  #control: ControlServer | null = null;
  #lifeShownMs = 0;
  #stopping: Promise<void> | null = null;
  #stopped: () => void = () => {};

  constructor(
    options: DaemonOptions,
    config: ConfigWatch,
    database: Database,
    store: Store,
    host: HostEntry,
    odd: OddRows,
  ) {
    this.#host = host;
    this.#counters = odd.counters;
    this.#options = options;
    this.#config = config;
    this.#database = database;
    this.#store = store;
    this.#log = fileLog(options.home.logFile);
    this.#journal = new Journal(store, host.id, this.#counters);
    const files = ownFiles(this.#processes.uid);
    // Who has something new says so here, and need not know who looks then.
    const nudges = new EventEmitter<{ nudge: [fully: boolean] }>();
    this.#hooks = new AgentHooksLook({ home: options.home, files, clock: systemClock });
    this.#fleet = new Fleet({
      clients,
      home: os.homedir(),
      tmux: userTmux(this.#processes.uid, options.tmuxSockets),
      processes: this.#processes,
      files,
      counters: this.#counters,
      changed: () => nudges.emit('nudge', true),
    });
    const inbox = new Inbox({
      dir: options.home.inbox,
      files,
      counters: this.#counters,
      parse: (text) => parseInboxFile(clients, text),
      filesMax: inboxFilesMax,
      remove: (file) => rmSync(file, { force: true }),
    });
    this.#saver = new Saver({
      database,
      journal: this.#journal,
      inbox,
      log: this.#log,
      notice: (level, line) => this.#notice(level, line),
      failed: (what, error) => this.#failed(what, error),
    });
    this.#retention = new Retention({
      host: host.id,
      store,
      clock: this.#clock,
      bootId: this.#processes.bootId,
      bootMs,
      retentionDays: () => this.#config.current().config.retentionDays,
      busy: () => this.#saver.isDown || this.#journal.pending > congestedRows,
      failed: (error) => this.#failed('retention', error),
    });
    const broken = new FoundBroken(options.home.conformanceDir);
    const common = {
      ...{ clock: this.#clock, counters: this.#counters, processes: this.#processes, files },
      config: () => this.#config.current().config,
    };
    const flush = () => this.#journal.flush();
    const spool = new Spool(options.home.spoolDir, host.id, files);
    const failed = (error: unknown) => this.#failed('an action', error);
    const rows = new WaitingRows({ store, spool, clock: this.#clock, flush, failed });
    this.#words = new Words({ host: host.id, home: options.home, files, store, failed });
    const said = new Map<string, Authority>();
    const record = (row: CheckRow) => this.#journal.addCheck(row);
    this.#board = new Board({ ...common, host: host.id, store: rows.store, record, failed });
    this.#examiner = new Examiner({ ...common, board: this.#board });
    this.#healthRows = new HealthRows(common.config);
    this.#reports = new ContextReports(store, host.id);
    this.#watcher = new Watcher({
      ...common,
      ...{ host: host.id, clients, fleet: this.#fleet, inbox, said, board: this.#board, examiner: this.#examiner },
      off: (client, clientVersion) => broken.of(client, clientVersion),
      report: (agent) => this.#reports.of(agent),
      configFor: (directories) => {
        const loaded = this.#config.current();
        return configAt(loaded, loaded.project === null ? [] : directories());
      },
      congested: () => !this.#saver.isDown && this.#journal.pending > congestedRows,
      changed: () => nudges.emit('nudge', false),
      failed: (error) => this.#failed('a look at one agent', error),
    });
    this.#spawns = new Spawns({
      ...{ ...common, host: host.id, store, board: this.#board },
      outputs: new Outputs(files, this.#processes.uid),
      record: (batch) => this.#journal.add(batch),
    });
    this.#newsroom = new Newsroom({
      ...{ clock: this.#clock, board: this.#board },
      grounds: (agent) => this.#watcher.grounds(agent),
      notifyMs: () => this.#config.current().config.waiting.notifyMinutes * 60_000,
      mode: () => this.#config.current().config.mode,
      paused: () => this.#isPaused(),
      quietUntilMs: () => this.#quietUntilMs(),
      tell: (news) => options.news(news),
    });
    this.#acting = new Acting({
      ...{ ...common, host: host.id, hostName: host.name, home: options.home, environment: options.environment },
      ...{ rows, said, board: this.#board, watcher: this.#watcher, spawns: this.#spawns, flush, failed, odd: odd.note },
      news: (news) => this.#takeNews(news),
      handoffWaits: (agent) => this.#handoffWaits(agent),
      paused: () => this.#isPaused(),
      quietUntilMs: () => this.#quietUntilMs(),
      notice: (line) => this.#notice('info', line),
      toldPeople: (line) => (options.isOnce ? this.#notice('info', line) : this.#log.write('info', line)),
      did: (deed) => this.#newsroom.did(deed),
      databaseAway: () => this.#saver.away,
    });
    this.#clock.onSet((byMs, nowMs) => {
      this.#watcher.clockSet(byMs, nowMs);
      this.#acting.clockSet(byMs, nowMs);
    });
    this.#loop = new Loop({
      tick: () => this.#tick(),
      pulse: () => this.#pulse(),
      tickMs: () => this.#config.current().config.tickSeconds * 1000,
      failed: (error) => this.#failed('a pass', error),
    });
    nudges.on('nudge', (fully) => this.#loop.nudge(fully));
    this.#doors = {
      sinceMs: this.#sinceMs,
      clock: this.#clock,
      counters: this.#counters,
      config: () => this.#config.current().config,
      missing: () => this.#config.missing(),
      handoffWaits: (agent) => this.#handoffWaits(agent, hooksShownMs),
      paused: () => this.#isPaused(),
      home: options.home,
      words: this.#words,
      quietUntilMs: () => this.#quietUntilMs(),
      watchOnly: options.watchOnly,
      watcher: this.#watcher,
      board: this.#board,
      spawns: this.#spawns,
      acting: this.#acting,
      saver: this.#saver,
      journal: this.#journal,
      userHome: options.environment.HOME ?? null,
      host: { id: host.id, name: host.name },
      record: (agent) => this.#record(agent),
      whyKept: (forms) => whyKept(this.#database.url, forms),
      stop: (keepDb) => this.#stop(keepDb),
    };
  }

  /** A bug, in other words: it is on record, and everything else goes on. */
  #failed(what: string, error: unknown): void {
    this.#counters.add('daemon.failed');
    this.#log.write('error', `${what} failed: ${(error as Error).stack ?? String(error)}`);
  }

  async start(): Promise<Result<RunningDaemon, StartFailure>> {
    const { home } = this.#options;
    const entered = await this.#store.enterHost(this.#host);
    const unreadable = (message: string) => fail('database', `the database cannot be read (${message})`);
    if (!entered.ok) return unreadable(entered.message);
    const stored = await this.#store.load(this.#host.id);
    if (!stored.ok) return unreadable(stored.message);
    // What the file says of a start counts at the start; what is announced then stays true.
    const quiet = quietMs(this.#config.current().config.start, { ...entered.value, isOnce: this.#options.isOnce });
    this.#quiet.begin(quiet);
    const aheadMs = await this.#retention.begin();
    if (aheadMs === null) return fail('database', 'it cannot be read from the database how old its rows are');
    // Before the agents, for what is open about them: who forgets a handoff or a person's word types where it must not.
    if (!(await this.#acting.restore(aheadMs)))
      return fail('database', 'what the last run left open cannot be read from the database');
    const handedOver = stored.value.filter(({ view }) => this.#acting.handoffs.running(view.agent) !== null);
    keepAllowances(
      home,
      handedOver.map(({ view }) => view.process),
    );
    this.#watcher.restore(stored.value);
    if (aheadMs > 0) this.#clock.tell(aheadMs, this.#clock.nowMs());
    await this.#spawns.restore();
    await this.#reports.refresh();
    for (const file of this.#config.missing())
      this.#notice(
        'warn',
        `${file} is missing, which the last run had: nothing is done to the agents it was about; ${configWayOut}`,
      );
    for (const problem of this.#config.leftOut())
      this.#notice('warn', `left out, and its agents only watched until it is right: ${formatProblem(problem)}`);
    await this.#tick();
    const control = await serveControl(home, (line) =>
      this.#answer(line).catch((error) => {
        this.#failed('an answer', error);
        throw error;
      }),
    );
    if (!control.ok) {
      this.#watcher.close();
      return fail('control', control.message);
    }
    this.#control = control.value;
    const announced = this.#announce();
    if (!announced.ok) {
      this.#watcher.close();
      this.#control.close();
      return fail('home', announced.message);
    }
    // From the moment in which it is said, however long the start took.
    this.#quiet.begin(quiet);
    const { tmuxSockets, watchOnly } = this.#options;
    const given = {
      loaded: this.#config.current(),
      ...entered.value,
      uid: this.#processes.uid,
      watcher: this.#watcher,
    };
    this.#newsroom.begin(beginningOf({ ...given, tmuxSockets, watchOnly }), this.#acting.handoffs);
    this.#acting.start();
    this.#loop.start();
    const stopped = new Promise<void>((resolve) => {
      this.#stopped = resolve;
    });
    return ok({
      stopped,
      stop: (keepDb) => this.#stop(keepDb),
      status: () => statusDocument(this.#doors),
      looked: () => this.#looked(),
      settled: () => this.#acting.settled(),
    });
  }

  async #answer(line: string): Promise<Reply> {
    const request = readRequest(line);
    if (!request.ok) return { line: refusalLine(request.reason, request.message) };
    // With their ages as of now.
    this.#publish();
    const answer = await answerRequest(request.value, this.#doors);
    if (!answer.ok) return { line: refusalLine(answer.reason, answer.message, answer.fix ?? null) };
    return answer.value === followsEvents ? 'follows' : { line: `${JSON.stringify(answer.value)}\n` };
  }

  async #record(agent: string): Promise<AgentRecord | null> {
    const read = await readAgentRecord(this.#database.url, { host: this.#host.id, agent });
    return read.ok ? read.value : null;
  }

  /** Whatever has to be seen twice was, and the rules know it. */
  async #looked(): Promise<void> {
    const endMs = this.#clock.monotonicMs() + lookedMsMax;
    while (this.#watcher.hasPending && this.#clock.monotonicMs() < endMs) await sleep(lookedEveryMs);
    this.#acting.round(true);
  }

  #announce(): Result<void> {
    const self = this.#processes.info(process.pid);
    const written = writeDaemonRecord(this.#options.home, {
      pid: process.pid,
      startTicks: self?.startTicks ?? '',
      bootId: this.#processes.bootId,
      startedAt: new Date(this.#sinceMs).toISOString(),
      version,
      sockets: { control: this.#control?.path ?? '' },
    });
    if (written.ok) this.#log.write('info', 'started', { pid: process.pid, version });
    return written;
  }

  /** Sense, detect, record. */
  async #tick(): Promise<void> {
    this.#reloadConfig();
    this.#fleet.useConfigDirs((client) => configDirsOf(this.#config.current().config.clients, client));
    void this.#spawns.refresh();
    void this.#reports.refresh();
    this.#lookAtSpawns(this.#take(await this.#watcher.tick(), true));
    this.#acting.round();
    this.#newsroom.look(this.#acting.handoffs);
    for (const line of this.#hooks.news(this.#watcher.living())) this.#notice('info', line);
    void this.#saver.save();
    void this.#words.store();
    void this.#retention.round();
    this.#showLife();
  }

  /** For whoever looks at all hosts of this database. */
  #showLife(): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#saver.isDown || nowMs < this.#lifeShownMs + lifeEveryMs) return;
    this.#lifeShownMs = nowMs;
    void this.#store.seeHost(this.#host.id);
  }

  #handoffWaits(name: string, maxAgeMs = 0): boolean {
    const agent = this.#watcher.agent(name);
    return agent !== null && this.#hooks.of(agent, maxAgeMs).handoffWaits;
  }

  /** A tmux server that hangs holds up a full pass, but not the clock of the spawns. */
  #pulse(): void {
    this.#lookAtSpawns(this.#take(this.#watcher.pulse(), false), spawnsPulseMs);
    this.#newsroom.look(this.#acting.handoffs);
  }

  #lookAtSpawns(sightings: readonly Sighting[], pauseMs = 0): void {
    const { handoffs } = this.#acting;
    this.#spawns.look(sightings, (agent, from, to) => handoffs.isSameWork(agent, from, to), pauseMs);
  }

  /** One agent after the other: what each wrote is not kept for long. How all of them are seen then. */
  #take(looks: Iterable<Looked>, isTick: boolean): readonly Sighting[] {
    const nowMs = this.#clock.nowMs();
    const batch = emptyBatch();
    this.#examiner.pass(nowMs);
    const seen = new Map<string, Sighting | null>();
    for (const looked of looks) {
      try {
        this.#takeLook(looked, nowMs, batch);
        seen.set(looked.agent.name, looked.before);
      } catch (error) {
        this.#failed('a look at one agent', error);
      }
    }
    // Nobody is seen otherwise than before.
    if (seen.size === 0 && !isTick) return this.#board.sightings;
    this.#publish();
    // Of the others there is nothing new, but it may be time to say so.
    if (isTick) for (const { name, view } of this.#watcher.living()) if (!seen.has(name)) seen.set(name, view);
    for (const [name, before] of seen)
      batch.checks.push(...this.#healthRows.rows(before, this.#board.view(name), nowMs));
    if (batch.agents.length + batch.events.length + batch.points.length + batch.checks.length > 0)
      this.#journal.add(batch);
    this.#tell(batch.events);
    return this.#board.sightings;
  }

  #publish(): void {
    this.#board.publish(this.#watcher.views());
  }

  /** What it said is heard before it is judged. */
  #takeLook({ agent, view, look }: Looked, nowMs: number, batch: StoreBatch): void {
    const { name, loops, words, spawned } = agent;
    this.#acting.heard(name, look);
    this.#spawns.seen(view, spawned);
    this.#examiner.examine(view, { loops, words, unansweredSinceMs: this.#acting.unansweredSince(name) }, nowMs);
    batch.events.push(...look.events);
    batch.sessions.push(...look.sessions);
    batch.points.push(...look.points);
    if (look.changed || look.events.length > 0) batch.agents.push(view);
  }

  #reloadConfig(): void {
    const change = this.#config.check();
    if (change === 'unchanged') return;
    if (change.config !== undefined) {
      this.#watcher.touchAll();
      remember(this.#options.home, this.#config.current());
      this.#notice('info', 'the configuration was read anew');
    }
    for (const problem of change.problems ?? []) {
      this.#notice('warn', `the configuration stays as it was: ${formatProblem(problem)}`);
    }
  }

  #tell(events: WatchEvent[]): void {
    for (const event of events) {
      this.#options.event(event);
      this.#control?.tell(eventDocument(event, this.#host.name));
    }
    if (events.length > 0) void this.#saver.save();
  }

  #takeNews({ handoff, event, check }: HandoffNews): void {
    this.#newsroom.handoff(handoff);
    this.#journal.add({ ...emptyBatch(), events: [event], checks: check === null ? [] : [check] });
    this.#tell([event]);
  }

  #notice(level: 'info' | 'warn', line: string): void {
    this.#log.write(level, line);
    this.#options.notice(shown(line));
  }

  /** Where nothing is done in any case there is nothing to wait for. */
  #quietUntilMs(): number | null {
    return this.#config.current().config.mode === 'act' ? this.#quiet.untilMs() : null;
  }

  /** Looked up each time: it has to hold at once, also when nobody could tell the daemon. */
  #isPaused(): boolean {
    return isPaused(this.#options.home);
  }

  #stop(keepDb: boolean): void {
    this.#stopping ??= this.#shutDown(keepDb).then(() => this.#stopped());
  }

  async #shutDown(keepDb: boolean): Promise<void> {
    await this.#loop.stop();
    this.#acting.close();
    this.#watcher.close();
    await this.#saver.end();
    await this.#retention.end();
    await this.#words.store();
    await this.#store.close();
    if (!keepDb) {
      const stopped = await this.#database.stop();
      if (!stopped.ok) this.#notice('warn', stopped.message);
    }
    this.#log.write('info', 'stopped');
    this.#control?.close();
    removeDaemonRecord(this.#options.home);
  }
}

/** Each client has its own words; the first that understands them has it. */
function parseInboxFile(clients: readonly AgentClient[], text: string): HookInboxItem | null {
  for (const client of clients) {
    const { hooks, statusLine } = client.sources;
    const item = hooks?.parse(text) ?? statusLine?.parse(text) ?? null;
    if (item !== null) return item;
  }
  return null;
}
