import { existsSync, rmSync } from 'node:fs';
import os from 'node:os';
import { claudeCode } from '../clients/claude-code/client.ts';
import { inboxFilesMax } from '../clients/claude-code/hook-script.ts';
import type { AgentClient } from '../clients/client.ts';
import { Counters } from '../model/counters.ts';
import type { Json, WatchEvent } from '../model/event.ts';
import type { InboxItem } from '../model/hook.ts';
import { fail, ok, type Result } from '../model/result.ts';
import type { Store } from '../model/store.ts';
import { shown } from '../model/text.ts';
import type { Processes } from '../model/world.ts';
import { acquireLock } from '../record/lock-file.ts';
import { openStore } from '../record/store.ts';
import { systemClock } from '../sense/clock.ts';
import { ownFiles } from '../sense/files.ts';
import { Fleet } from '../sense/fleet.ts';
import { Inbox } from '../sense/inbox.ts';
import { Outputs } from '../sense/outputs.ts';
import { linuxProcesses } from '../sense/processes.ts';
import { userTmux } from '../sense/tmux/servers.ts';
import { Acting } from './acting.ts';
import { countSources } from './agent-sources.ts';
import { openAllowances } from './allowances.ts';
import { type ConfigPlaces, loadConfig } from './config/load.ts';
import { formatProblem } from './config/problem.ts';
import { type ConfigWatch, watchConfig } from './config/watch.ts';
import { BrokenSources } from './conformance-results.ts';
import { type ControlRequest, type ControlServer, serveControl } from './control.ts';
import { type Database, databaseRuns, openDatabase } from './database.ts';
import { type Home, makeHomeDir, removeDaemonRecord, runningDaemon, writeDaemonRecord } from './home.ts';
import { Journal } from './journal.ts';
import { fileLog, type Log } from './log.ts';
import { Loop } from './loop.ts';
import { Saver } from './saver.ts';
import { refreshScript } from './setup/init.ts';
import { Spawns } from './spawns.ts';
import { agentDocument, type StatusDocument } from './status.ts';
import { version } from './version.ts';
import { Watcher } from './watcher.ts';

export type StartFailure = 'already-running' | 'home' | 'config' | 'database' | 'control' | 'platform';

export interface DaemonOptions {
  home: Home;
  places: ConfigPlaces;
  environment: NodeJS.ProcessEnv;
  tmuxSockets: string[];
  /** For the person at the terminal: what happens on the way up, and every event after. */
  progress(line: string): void;
  event(event: WatchEvent): void;
  notice(line: string): void;
}

export interface RunningDaemon {
  /** Resolves when everything has stopped. */
  stopped: Promise<void>;
  stop(keepDb: boolean): void;
  status(): StatusDocument;
  /** Resolves when no action is under way. */
  settled(): Promise<void>;
}

const congestedRows = 10_000;
/** A burst of changes in the agents' folders is no reason to look at every output file again. */
const spawnsPulseMs = 400;

/** One full round without a daemon: look, record, act, and stop again. The database is left as it was found. */
export async function runOnce(options: DaemonOptions): Promise<Result<StatusDocument, StartFailure>> {
  const keepDb = databaseRuns(options.home);
  const started = await startDaemon(options);
  if (!started.ok) return started;
  // As it was found: what is done about it may have mended it by the time it is done.
  const status = started.value.status();
  await started.value.settled();
  started.value.stop(keepDb);
  await started.value.stopped;
  return ok(status);
}

export async function startDaemon(options: DaemonOptions): Promise<Result<RunningDaemon, StartFailure>> {
  const { home } = options;
  if (process.platform !== 'linux')
    return fail('platform', `${process.platform} is not supported yet`, 'run it on Linux');
  const made = makeHomeDir(home);
  if (!made.ok) return fail('home', made.message, made.fix);
  const lock = acquireLock(home.daemonLock);
  if (!lock.ok) {
    if (lock.reason === 'unusable') return fail('home', `the data directory is not usable (${lock.message})`);
    const pid = runningDaemon(home)?.pid ?? lock.owner.pid;
    return fail(
      'already-running',
      `a daemon (pid ${pid}) already watches ${home.dir}`,
      'stop it with `watchkeeper down`',
    );
  }
  const started = await startLocked(options);
  if (!started.ok) {
    lock.release();
    return started;
  }
  void started.value.stopped.then(() => lock.release());
  return started;
}

async function startLocked(options: DaemonOptions): Promise<Result<RunningDaemon, StartFailure>> {
  const loaded = loadConfig(options.places);
  if (!loaded.ok) return fail('config', loaded.message);
  refreshScript(options.home);
  openAllowances(options.home, systemClock.nowMs());
  options.progress('starting the database');
  const database = await openDatabase(options.home, options.environment, options.progress);
  if (!database.ok) return fail('database', database.message, database.fix);
  const store = openStore(database.value.url);
  const daemon = new Daemon(options, watchConfig(options.places, loaded.value), database.value, store);
  const running = await daemon.start();
  if (!running.ok) {
    await store.close();
    await database.value.stop();
  }
  return running;
}

class Daemon {
  readonly #options: DaemonOptions;
  readonly #config: ConfigWatch;
  readonly #database: Database;
  readonly #store: Store;
  readonly #log: Log;
  readonly #counters = new Counters();
  readonly #processes: Processes = linuxProcesses();
  readonly #host = os.hostname();
  readonly #sinceMs = systemClock.nowMs();
  readonly #fleet: Fleet;
  readonly #watcher: Watcher;
  readonly #journal: Journal;
  readonly #saver: Saver;
  readonly #acting: Acting;
  readonly #spawns: Spawns;
  readonly #loop: Loop;
  #control: ControlServer | null = null;
  #stopping: Promise<void> | null = null;
  #stopped: () => void = () => {};

  constructor(options: DaemonOptions, config: ConfigWatch, database: Database, store: Store) {
    this.#options = options;
    this.#config = config;
    this.#database = database;
    this.#store = store;
    this.#log = fileLog(options.home.logFile);
    this.#journal = new Journal(store, this.#host, this.#counters);
    const files = ownFiles(this.#processes.uid);
    this.#loop = new Loop({
      tick: () => this.#tick(),
      pulse: () => this.#pulse(),
      tickMs: () => this.#config.current().config.tickSeconds * 1000,
      failed: (error) => this.#failed('a pass', error),
    });
    const clients = [claudeCode];
    this.#fleet = new Fleet({
      clients,
      home: os.homedir(),
      tmux: userTmux(this.#processes.uid, options.tmuxSockets),
      processes: this.#processes,
      files,
      counters: this.#counters,
      changed: () => this.#loop.nudge(true),
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
      store,
      database,
      journal: this.#journal,
      inbox,
      clock: systemClock,
      log: this.#log,
      retentionDays: () => this.#config.current().config.retentionDays,
      notice: (level, line) => this.#notice(level, line),
      failed: (what, error) => this.#failed(what, error),
    });
    const broken = new BrokenSources(options.home.conformanceDir);
    this.#watcher = new Watcher({
      broken: (client, clientVersion) => broken.of(client, clientVersion),
      host: this.#host,
      clients,
      fleet: this.#fleet,
      inbox,
      processes: this.#processes,
      files,
      clock: systemClock,
      counters: this.#counters,
      config: () => this.#config.current().config,
      record: (batch) => this.#journal.add(batch),
      congested: () => !this.#saver.isDown && this.#journal.pending > congestedRows,
      changed: () => this.#loop.nudge(false),
      failed: (error) => this.#failed('a look at one agent', error),
      told: (agent, event) => this.#acting.told(agent, event),
      hooked: (agent, hook) => this.#acting.hooked(agent, hook),
      authority: (agent, inTmux) => this.#acting.authority(agent, inTmux),
      unansweredSince: (agent) => this.#acting.unansweredSince(agent),
      idFor: (agent, check, subject) => this.#acting.idFor(agent, check, subject),
      spawned: (view, signs) => this.#spawns.seen(view, signs),
    });
    this.#spawns = new Spawns({
      host: this.#host,
      store,
      outputs: new Outputs(files, this.#processes.uid),
      clock: systemClock,
      counters: this.#counters,
      config: () => this.#config.current().config,
      views: () => this.#watcher.views(),
      record: (batch) => this.#journal.add(batch),
      idFor: (agent, check, subject) => this.#acting.idFor(agent, check, subject),
      incident: (agent, check, subject) => this.#acting.about(agent, check, subject),
    });
    this.#acting = new Acting({
      host: this.#host,
      store,
      clock: systemClock,
      processes: this.#processes,
      files,
      environment: options.environment,
      config: () => this.#config.current().config,
      paused: () => this.#isPaused(),
      agent: (name) => this.#watcher.agent(name),
      views: () => this.#spawns.overlay(this.#watcher.views()),
      loose: () => this.#spawns.loose(),
      progress: (agent) => this.#spawns.progress(agent),
      fine: (agent) => this.#watcher.fine(agent),
      flush: () => this.#journal.flush(),
      lookSoon: (agent) => this.#watcher.touch(agent),
      failed: (error) => this.#failed('an action', error),
    });
  }

  /** A bug, in other words: it is on record, and everything else goes on. */
  #failed(what: string, error: unknown): void {
    this.#counters.add('daemon.failed');
    this.#log.write('error', `${what} failed: ${(error as Error).stack ?? String(error)}`);
  }

  async start(): Promise<Result<RunningDaemon, StartFailure>> {
    const { home } = this.#options;
    const stored = await this.#store.load(this.#host);
    if (!stored.ok) return fail('database', `the database cannot be read (${stored.message})`);
    this.#watcher.restore(stored.value);
    await this.#acting.restore();
    await this.#spawns.restore();
    await this.#tick();
    const control = await serveControl(home, (request) =>
      this.#answer(request).catch((error) => {
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
    this.#loop.start();
    const stopped = new Promise<void>((resolve) => {
      this.#stopped = resolve;
    });
    return ok({
      stopped,
      stop: (keepDb) => this.#stop(keepDb),
      status: () => this.#status(),
      settled: () => this.#acting.settled(),
    });
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
    this.#fleet.useConfigDirs(this.#config.current().config.clients.claudeCode.configDirs);
    void this.#spawns.refresh();
    this.#tell(await this.#watcher.tick());
    this.#spawns.look();
    this.#acting.round();
    void this.#saver.save();
  }

  /** A tmux server that hangs holds up a full pass, but not the clock of the spawns. */
  #pulse(): void {
    this.#tell(this.#watcher.pulse());
    this.#spawns.look(spawnsPulseMs);
  }

  #reloadConfig(): void {
    const change = this.#config.check();
    if (change === 'unchanged') return;
    if ('config' in change) {
      this.#notice('info', 'the configuration was read anew');
      return;
    }
    for (const problem of change.problems) {
      this.#notice('warn', `the configuration stays as it was: ${formatProblem(problem)}`);
    }
  }

  #tell(events: WatchEvent[]): void {
    for (const event of events) {
      this.#options.event(event);
      this.#control?.tell(eventDocument(event));
    }
    if (events.length > 0) void this.#saver.save();
  }

  #notice(level: 'info' | 'warn', line: string): void {
    this.#log.write(level, line);
    this.#options.notice(shown(line));
  }

  async #answer(request: ControlRequest): Promise<unknown> {
    switch (request.ask) {
      case 'stop':
        // The answer has to be on its way before the socket goes.
        setImmediate(() => this.#stop(request.keepDb));
        return { ok: true };
      case 'doctor':
        return this.#doctor();
      case 'prompt':
        return this.#acting.say(request.agent, request.said, request.waitMs);
      case 'authority':
        return { ok: await this.#acting.setAuthority(request.agent, request.authority) };
      case 'ack':
        return { ok: await this.#acting.acknowledge(request.id) };
      case 'inbox':
        return { v: 1, items: this.#acting.inbox() };
      case 'compact':
        return this.#acting.compact(request.agent);
      case 'why':
        return this.#acting.why(request.agent);
      default:
        return this.#status();
    }
  }

  /** Looked up each time: it has to hold at once, also when nobody could tell the daemon. */
  #isPaused(): boolean {
    return existsSync(this.#options.home.pausedFile);
  }

  #status(): StatusDocument {
    const nowMs = systemClock.nowMs();
    const config = this.#config.current().config;
    return {
      v: 1,
      daemon: {
        pid: process.pid,
        since: new Date(this.#sinceMs).toISOString(),
        paused: this.#isPaused(),
        mode: config.mode,
        tick_ms: config.tickSeconds * 1000,
        bands: config.bands,
        prompts: { reacted: this.#acting.reactions.total, in_time: this.#acting.reactions.inTime },
      },
      agents: this.#spawns
        .overlay(this.#watcher.views())
        .map((view) => agentDocument(view, this.#spawns.documents(view.agent), nowMs)),
    };
  }

  #doctor(): Json {
    return {
      counters: this.#counters.all(),
      servers: this.#watcher.servers,
      database: { down: this.#saver.isDown, waiting: this.#journal.pending, failure: this.#journal.failure },
      channels: this.#acting.channels.map(({ name, ok: works, reason }) => ({ name, ok: works, reason })),
      sources: countSources(this.#watcher.views()),
      memory_mb: Math.round(process.memoryUsage.rss() / 1024 / 1024),
      agents: this.#watcher.views().filter((view) => view.reading.state !== 'ended').length,
    };
  }

  #stop(keepDb: boolean): void {
    this.#stopping ??= this.#shutDown(keepDb).then(() => this.#stopped());
  }

  async #shutDown(keepDb: boolean): Promise<void> {
    await this.#loop.stop();
    this.#watcher.close();
    await this.#saver.end();
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
function parseInboxFile(clients: readonly AgentClient[], text: string): InboxItem | null {
  for (const client of clients) {
    const item = client.parseInboxFile(text);
    if (item !== null) return item;
  }
  return null;
}

function eventDocument(event: WatchEvent) {
  return {
    v: 1,
    at: new Date(event.atMs).toISOString(),
    agent: event.agent,
    source: event.source,
    kind: event.kind,
    data: event.data,
  };
}
