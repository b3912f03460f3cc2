import { type AgentClient, isEntryOf, type RegistryEntry } from '../clients/client.ts';
import type { Counters } from '../model/counters.ts';
import type { SessionEvent } from '../model/session-event.ts';
import type { Clock, Files, Processes, ProcessInfo } from '../model/world.ts';
import { registryBytesMax, type SeenAgent } from './fleet.ts';
import { LineFollower } from './line-follower.ts';
import { findTranscript } from './transcript-place.ts';
import type { TypedCommands } from './typed-commands.ts';

/** What one look at an agent's own files and process brought. */
export interface Observation {
  alive: boolean;
  suspended: boolean;
  seenAtMs: number;
  registry: { entry: RegistryEntry; seenAtMs: number } | null;
  sessionId: string | null;
  /** The events that follow belong to a new story: another session, or a file that was cut or replaced. */
  restarted: boolean;
  transcript: { path: string; inode: string; seenAtMs: number } | null;
  events: { event: SessionEvent; offset: number }[];
  compactAskedMs: number | null;
  /** A backlog is left: look again at once. */
  more: boolean;
}

interface Sources {
  processes: Processes;
  files: Files;
  clock: Clock;
  counters: Counters;
  typed: TypedCommands;
}

/** Follows one agent: its process, its registry entry, and the transcript of the session it is in. */
export class AgentFollower {
  readonly #sources: Sources;
  readonly #client: AgentClient;
  readonly #process: ProcessInfo;
  readonly #configDir: string | null;
  #registry: { entry: RegistryEntry; seenAtMs: number; stamp: string } | null = null;
  #sessionId: string | null = null;
  #cwd: string | null = null;
  #lines: LineFollower | null = null;
  #transcriptSeen: { path: string; inode: string; seenAtMs: number } | null = null;
  /** Records without a time of their own get their neighbour's. */
  #lastAtMs: number;
  #restarted = false;

  constructor(sources: Sources, seen: SeenAgent) {
    this.#sources = sources;
    this.#client = seen.client;
    this.#process = seen.process;
    this.#configDir = seen.configDir;
    this.#lastAtMs = sources.processes.startedAtMs(seen.process);
  }

  /** Folders whose changes are worth a look at once. */
  folders(): string[] {
    const folders = this.#configDir === null ? [] : [this.#client.registryFolder(this.#configDir), this.#configDir];
    if (this.#lines !== null) folders.push(this.#lines.path.slice(0, this.#lines.path.lastIndexOf('/')));
    return folders;
  }

  poll(): Observation {
    const nowMs = this.#sources.clock.nowMs();
    const info = this.#sources.processes.info(this.#process.pid);
    const alive = info !== null && info.startTicks === this.#process.startTicks && !/[ZX]/.test(info.runState);
    if (alive) this.#readRegistry(nowMs);
    const read = this.#readTranscript(nowMs);
    const restarted = this.#restarted;
    this.#restarted = false;
    return {
      alive,
      suspended: alive && info.runState === 'T',
      seenAtMs: nowMs,
      registry: alive && this.#registry !== null ? this.#registry : null,
      sessionId: this.#sessionId,
      restarted,
      transcript: this.#transcriptSeen,
      compactAskedMs: this.#compactAsked(),
      ...read,
    };
  }

  #readRegistry(nowMs: number): void {
    if (this.#configDir === null) return;
    const { files, counters } = this.#sources;
    const file = this.#client.registryFile(this.#configDir, this.#process.pid);
    const info = files.info(file);
    if (info === null) {
      this.#registry = null;
      return;
    }
    const stamp = `${info.inode}:${info.size}:${info.mtimeMs}`;
    if (this.#registry?.stamp === stamp) {
      this.#registry.seenAtMs = nowMs;
      return;
    }
    const read = files.readSmall(file, registryBytesMax);
    const entry = read.ok ? this.#client.parseRegistry(read.text) : null;
    if (entry === null) {
      // Caught half-written it will be whole at the next look; until then the last word stands, with its age.
      counters.add(read.ok ? 'registry.invalid' : `registry.${read.reason}`);
      return;
    }
    if (!isEntryOf(entry, this.#process)) {
      counters.add('registry.other-process');
      this.#registry = null;
      return;
    }
    this.#registry = { entry, seenAtMs: nowMs, stamp };
    this.#cwd = entry.cwd;
    if (entry.sessionId !== this.#sessionId) this.#switchSession(entry.sessionId);
  }

  #switchSession(sessionId: string): void {
    this.#sessionId = sessionId;
    this.#lines = null;
    this.#transcriptSeen = null;
    this.#restarted = true;
  }

  #readTranscript(nowMs: number): Pick<Observation, 'events' | 'more'> {
    const { files, counters } = this.#sources;
    if (this.#lines === null && this.#sessionId !== null && this.#configDir !== null) {
      const place = findTranscript(this.#client, files, this.#configDir, this.#cwd, this.#sessionId);
      if (place !== null) this.#lines = new LineFollower(files, place);
    }
    if (this.#lines === null) return { events: [], more: false };
    const batch = this.#lines.poll();
    if (batch.restarted) {
      this.#restarted = true;
      counters.add('transcript.restarted');
    }
    if (batch.oversized > 0) counters.add('transcript.oversized', batch.oversized);
    if (batch.failure !== null) {
      counters.add(`transcript.${batch.failure}`);
      return { events: [], more: false };
    }
    if (this.#lines.inode !== null) {
      this.#transcriptSeen = { path: this.#lines.path, inode: this.#lines.inode, seenAtMs: nowMs };
    }
    const events: Observation['events'] = [];
    for (const line of batch.lines) {
      const parsed = this.#client.parseTranscriptLine(line.text, String(line.offset));
      if (!parsed.ok) counters.add('transcript.invalid-line');
      else if (!parsed.sidechain) {
        for (const event of parsed.events) events.push({ event: this.#timed(event), offset: line.offset });
      }
    }
    return { events, more: batch.more };
  }

  #compactAsked(): number | null {
    if (this.#configDir === null || this.#sessionId === null) return null;
    const last = this.#sources.typed.last(this.#client, this.#configDir, this.#sessionId);
    return last?.command === 'compact' ? last.atMs : null;
  }

  #timed(event: SessionEvent): SessionEvent {
    if (Number.isNaN(event.atMs)) return { ...event, atMs: this.#lastAtMs };
    this.#lastAtMs = event.atMs;
    return event;
  }
}
