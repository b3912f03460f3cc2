import { type AgentClient, isEntryOf, type RegistrySource } from '../clients/client.ts';
import type { ClientName } from '../model/agent.ts';
import type { Counters } from '../model/counters.ts';
import type { Files, Pane, Processes, ProcessInfo, Tmux, TmuxFailure, TmuxServer } from '../model/world.ts';

const descendantsMax = 200;
/** Every client killed with -9 leaves one behind, for ever. */
const registryFilesMax = 100_000;
const countedMax = 10_000;
export const registryBytesMax = 256 * 1024;

/** Its parent has not asked after it yet, and may never do so. */
export function isDead({ runState }: ProcessInfo): boolean {
  return /[ZX]/.test(runState);
}

/** A client found running: in a pane, or through the registry of a config directory. */
export interface SeenAgent {
  client: AgentClient;
  process: ProcessInfo;
  configDir: string | null;
  place: { socket: string; pane: Pane } | null;
}

export interface Sweep {
  agents: SeenAgent[];
  servers: { socket: string; panes: number | null; failure: TmuxFailure | null }[];
}

export interface FleetOptions {
  clients: readonly AgentClient[];
  home: string;
  tmux: Tmux;
  processes: Processes;
  files: Files;
  counters: Counters;
  /** Something in a tmux server changed: look again soon. */
  changed: () => void;
}

/** Finds the agents of this user: in the panes of the tmux servers, and in the registries of known config directories. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #servers = new Map<string, TmuxServer>();
  #configDirs: (client: ClientName) => readonly string[] = () => [];
  readonly #identified = new Map<string, Omit<SeenAgent, 'place'>>();
  /** What was odd and is counted already; looked at every two seconds it would be counted for ever. */
  readonly #counted = new Set<string>();

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  /** Config directories besides the user's own, from the configuration. */
  useConfigDirs(dirs: (client: ClientName) => readonly string[]): void {
    this.#configDirs = dirs;
  }

  async sweep(): Promise<Sweep> {
    const sockets = this.#options.tmux.sockets();
    for (const [socket, server] of this.#servers) {
      if (sockets.includes(socket)) continue;
      server.close();
      this.#servers.delete(socket);
    }
    const answers = await Promise.all(
      sockets.map(async (socket) => ({ socket, answer: await this.#server(socket).panes() })),
    );
    const found = new Map<number, SeenAgent>();
    const servers: Sweep['servers'] = [];
    for (const { socket, answer } of answers) {
      if (!answer.ok) {
        // A socket file nobody listens on is left behind by every ended server: not worth a word.
        if (answer.reason !== 'gone') this.#options.counters.add(`tmux.${answer.reason}`);
        servers.push({ socket, panes: null, failure: answer.reason });
        continue;
      }
      servers.push({ socket, panes: answer.panes.length, failure: null });
      for (const pane of answer.panes) {
        const agent = pane.dead ? null : this.#agentIn(pane, socket);
        // A window linked into several sessions is listed once for each.
        if (agent !== null && !found.has(agent.process.pid)) found.set(agent.process.pid, agent);
      }
    }
    for (const agent of this.#outsideTmux(found)) found.set(agent.process.pid, agent);
    const alive = new Set([...found.values()].map(({ process }) => `${process.pid}:${process.startTicks}`));
    for (const key of this.#identified.keys()) if (!alive.has(key)) this.#identified.delete(key);
    return { agents: [...found.values()], servers };
  }

  /** The visible page of a pane. */
  async capture(socket: string, pane: string): Promise<string | null> {
    return (await this.#servers.get(socket)?.capture(pane)) ?? null;
  }

  close(): void {
    for (const server of this.#servers.values()) server.close();
    this.#servers.clear();
  }

  #server(socket: string): TmuxServer {
    let server = this.#servers.get(socket);
    if (server === undefined) {
      server = this.#options.tmux.open(socket, this.#options.changed);
      this.#servers.set(socket, server);
    }
    return server;
  }

  /** The topmost client among the pane's processes: one that an agent starts as a tool is part of that agent. */
  #agentIn(pane: Pane, socket: string): SeenAgent | null {
    const { processes } = this.#options;
    let level = [pane.pid];
    for (let seen = 0; level.length > 0 && seen < descendantsMax; ) {
      const next: number[] = [];
      for (const pid of level) {
        seen += 1;
        const info = processes.info(pid);
        // A dead one would be found anew at every look, as somebody nothing is known of.
        if (info === null || isDead(info)) continue;
        if (info.uid !== processes.uid) {
          this.#countOnce('process.foreign', `${pid}:${info.startTicks}`);
          continue;
        }
        const agent = this.#identify(info);
        if (agent !== null) return { ...agent, place: { socket, pane } };
        next.push(...processes.children(pid));
      }
      level = next;
    }
    return null;
  }

  #identify(info: ProcessInfo): Omit<SeenAgent, 'place'> | null {
    const key = `${info.pid}:${info.startTicks}`;
    const known = this.#identified.get(key) ?? this.#identifyAnew(info);
    // A process stays what it is; only its run state changes.
    if (known !== null) this.#identified.set(key, known);
    return known === null ? null : { ...known, process: info };
  }

  #identifyAnew(info: ProcessInfo): Omit<SeenAgent, 'place'> | null {
    const { processes, clients } = this.#options;
    const client = clients.find((candidate) => candidate.recognition.mayBe(info));
    if (client === undefined) return null;
    const { recognition } = client;
    const environment = processes.environment(info.pid, recognition.environmentNames);
    const configDir = environment === null ? null : recognition.configDir(environment, processes.directory(info.pid));
    const certain =
      recognition.isProgram(processes.executable(info.pid), processes.arguments(info.pid)) ||
      this.#isRegistered(client.sources.registry, configDir, info);
    if (certain) return { client, process: info, configDir };
    this.#countOnce('process.impostor', `${info.pid}:${info.startTicks}`);
    return null;
  }

  #countOnce(counter: string, what: string): void {
    const key = `${counter} ${what}`;
    if (this.#counted.has(key)) return;
    if (this.#counted.size >= countedMax) this.#counted.clear();
    this.#counted.add(key);
    this.#options.counters.add(counter);
  }

  #isRegistered(registry: RegistrySource | undefined, configDir: string | null, info: ProcessInfo): boolean {
    if (registry === undefined || configDir === null) return false;
    const read = this.#options.files.readSmall(registry.file(configDir, info.pid), registryBytesMax);
    const entry = read.ok ? registry.parse(read.text) : null;
    return entry !== null && isEntryOf(entry, info);
  }

  #isInteractive(registry: RegistrySource, configDir: string, info: ProcessInfo): boolean {
    const file = registry.file(configDir, info.pid);
    const read = this.#options.files.readSmall(file, registryBytesMax);
    const entry = read.ok ? registry.parse(read.text) : null;
    if (entry !== null && isEntryOf(entry, info)) return entry.interactive;
    const odd = entry !== null ? 'other-process' : read.ok ? 'invalid' : read.reason;
    // Gone a moment after it was listed is nothing odd.
    if (odd !== 'missing') this.#countOnce(`registry.${odd}`, `${file}:${info.startTicks}`);
    return false;
  }

  /** Only registries lead there; no other process is searched. */
  #outsideTmux(found: ReadonlyMap<number, SeenAgent>): SeenAgent[] {
    const { clients, files, processes, home } = this.#options;
    const agents: SeenAgent[] = [];
    for (const client of clients) {
      const { registry } = client.sources;
      if (registry === undefined) continue;
      for (const configDir of new Set([client.recognition.defaultConfigDir(home), ...this.#configDirs(client.name)])) {
        const names = files.list(registry.folder(configDir)) ?? [];
        for (const name of names.slice(0, registryFilesMax)) {
          const pid = registry.pidOf(name);
          if (pid === null || found.has(pid)) continue;
          const info = processes.info(pid);
          if (info === null || isDead(info)) continue;
          if (info.uid !== processes.uid) {
            this.#countOnce('process.foreign', `${pid}:${info.startTicks}`);
          } else if (this.#isInteractive(registry, configDir, info)) {
            agents.push({ client, process: info, configDir, place: null });
          }
        }
      }
    }
    return agents;
  }
}
