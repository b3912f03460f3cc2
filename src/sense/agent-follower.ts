import path from 'node:path';
import { type AgentClient, isEntryOf, type RegistryEntry } from '../clients/client.ts';
import type { Counters } from '../model/counters.ts';
import type { SessionEvent } from '../model/session-event.ts';
import type { Clock, FileInfo, Files, Processes, ProcessInfo } from '../model/world.ts';
import { isDead, registryBytesMax, type SeenAgent } from './fleet.ts';
import { LineFollower } from './line-follower.ts';
import { findTranscript, inferSession } from './transcript-place.ts';
import type { TypedCommands } from './typed-commands.ts';

/** A transcript with so many lines and nothing known in them is of another format. */
const strangeLines = 20;

/** What one look at an agent's own files and process brought. */
export interface Observation {
  alive: boolean;
  suspended: boolean;
  seenAtMs: number;
  registry: { entry: RegistryEntry; seenAtMs: number } | null;
  sessionId: string | null;
  /** The directory of that session, as far as it is known. */
  cwd: string | null;
  /** The events that follow belong to a new story: another session, or a file that was cut or replaced. */
  restarted: boolean;
  transcript: { path: string; inode: string; size: number; seenAtMs: number } | null;
  events: { event: SessionEvent; offset: number }[];
  compactAskedMs: number | null;
  /** Its entry is still in the registry though the process is gone: it had no time to tidy up. */
  registryLeft: boolean;
  /** Why the registry and the transcript cannot be read; null: they can. */
  trouble: { registry: string | null; transcript: string | null };
  /** A backlog is left: look again at once. */
  more: boolean;
}

interface Followed {
  processes: Processes;
  files: Files;
  clock: Clock;
  counters: Counters;
  typed: TypedCommands;
}

/** Where an earlier run was: a session the agent has left since may have more to tell. */
export interface LeftOff {
  sessionId: string;
  cwd: string | null;
  transcript: string | null;
  startedAtMs: number;
}

/** What else may say which session it is, where the registry does not. */
export interface SessionHint {
  /** By a hook or the status line. */
  told: { sessionId: string; cwd: string | null } | null;
  /** The sessions of all other agents; null: another agent in the same directory is in an unknown one. */
  taken: () => ReadonlySet<string> | null;
}

/** Follows one agent: its process, its registry entry, and the transcript of the session it is in. */
export class AgentFollower {
  readonly #sources: Followed;
  readonly #client: AgentClient;
  readonly #process: ProcessInfo;
  readonly #configDir: string | null;
  /** Made once: it is asked for again and again. */
  readonly #registryPlace: { folder: string; file: string } | null;
  #registry: { entry: RegistryEntry; seenAtMs: number; stamp: string } | null = null;
  #sessionId: string | null = null;
  #cwd: string | null = null;
  #hintedCwd: string | null = null;
  #lines: LineFollower | null = null;
  #transcriptSeen: Observation['transcript'] = null;
  /** Records without a time of their own get their neighbour's. */
  #lastAtMs: number;
  #restarted = false;
  #registryTrouble: string | null = null;
  #transcriptTrouble: string | null = null;
  /** Nobody knows what the client said last. */
  #isLastLineBad = false;
  /** How many lines were read, and how many of them said anything. */
  readonly #lineCounts = { read: 0, telling: 0 };

  constructor(sources: Followed, seen: SeenAgent, leftOff: LeftOff | null = null) {
    this.#sources = sources;
    this.#client = seen.client;
    this.#process = seen.process;
    this.#configDir = seen.configDir;
    const { registry } = seen.client.sources;
    this.#registryPlace =
      registry === undefined || seen.configDir === null
        ? null
        : { folder: registry.folder(seen.configDir), file: registry.file(seen.configDir, seen.process.pid) };
    this.#lastAtMs = leftOff?.startedAtMs ?? sources.processes.startedAtMs(seen.process);
    if (leftOff === null) return;
    this.#switchSession(leftOff.sessionId);
    this.#cwd = leftOff.cwd;
    // Its config directory went with the process; then the recorded path is all there is.
    if (seen.configDir === null && leftOff.transcript !== null)
      this.#lines = new LineFollower(sources.files, leftOff.transcript);
  }

  /** Folders whose changes are worth a look at once. */
  folders(): string[] {
    const { typedHistory } = this.#client.sources;
    const dir = this.#configDir;
    const folders: string[] = [];
    if (this.#registryPlace !== null) folders.push(this.#registryPlace.folder);
    if (dir !== null && typedHistory !== undefined) folders.push(path.dirname(typedHistory.file(dir)));
    const lines = this.#folderOfLines();
    if (lines !== null) folders.push(lines);
    return folders;
  }

  /** Does a change of this file mean that there is something new of this agent? */
  isAbout(folder: string, name: string | null): boolean {
    if (!this.folders().includes(folder)) return false;
    if (name === null || folder === this.#folderOfLines() || this.#configDir === null) {
      return name === null || this.#sessionId === null || name.startsWith(this.#sessionId);
    }
    const { registry, typedHistory } = this.#client.sources;
    const history = typedHistory?.file(this.#configDir) ?? null;
    if (history !== null && folder === path.dirname(history)) return name === path.basename(history);
    return registry?.pidOf(name) === this.#process.pid;
  }

  #folderOfLines(): string | null {
    return this.#lines === null ? null : path.dirname(this.#lines.path);
  }

  /** The wall clock was set back: what the registry said is as long ago as it was, not of a time to come. */
  clockSetBack(byMs: number): void {
    const entry = this.#registry?.entry ?? null;
    if (entry !== null && entry.sinceMs !== null) entry.sinceMs -= byMs;
  }

  /** The session the registry named last. */
  get registeredSession(): string | null {
    return this.#registry?.entry.sessionId ?? null;
  }

  /** `process`: as it was seen a moment ago, where that is known. */
  poll(hint: SessionHint, process: ProcessInfo | null): Observation {
    const nowMs = this.#sources.clock.nowMs();
    const info = process ?? this.#sources.processes.info(this.#process.pid);
    const alive = info !== null && info.startTicks === this.#process.startTicks && !isDead(info);
    this.#readRegistry(nowMs);
    const session = this.#registry?.entry.sessionId ?? this.#hinted(hint, alive);
    const moved = session !== null && session !== this.#sessionId;
    if (moved && !this.#hasLines()) this.#switchSession(session);
    const read = this.#readTranscript(nowMs);
    const observation: Observation = {
      alive,
      suspended: alive && info.runState === 'T',
      seenAtMs: nowMs,
      registry: alive && this.#registry !== null ? this.#registry : null,
      sessionId: this.#sessionId,
      cwd: this.#cwd,
      restarted: this.#restarted,
      transcript: this.#transcriptSeen,
      compactAskedMs: this.#compactAsked(nowMs),
      registryLeft: !alive && this.#isRegistryLeft(),
      trouble: { registry: this.#registryTrouble, transcript: this.#transcriptTrouble },
      ...read,
    };
    this.#restarted = false;
    // The last records of the session it left come first; the next look is at the new one.
    if (session !== null && session !== this.#sessionId && !read.more) {
      this.#switchSession(session);
      observation.more = true;
    }
    return observation;
  }

  /** Does the registry still say what it said? Where changes are told of, and none was, it does. */
  isSame(nowMs: number, isWatched: (folder: string) => boolean): boolean {
    const place = this.#registryPlace;
    if (place === null || this.#registry === null) return false;
    if (!isWatched(place.folder)) {
      const info = this.#sources.files.info(place.file);
      if (info === null || stampOf(info) !== this.#registry.stamp) return false;
    }
    this.#registry.seenAtMs = nowMs;
    return true;
  }

  /** The same of registry and transcript, by the files themselves: a watch that lost a change does not say so. */
  isUnchanged(nowMs: number): boolean {
    return this.isSame(nowMs, () => false) && this.#isReadUp();
  }

  #isReadUp(): boolean {
    if (this.#lines !== null) return this.#lines.isReadUp();
    const record = this.#client.sources.record;
    const [dir, cwd, session] = [this.#configDir, this.#cwd, this.#sessionId];
    if (record === undefined || dir === null || cwd === null || session === null) return false;
    return this.#sources.files.info(record.file(dir, cwd, session)) === null;
  }

  #readRegistry(nowMs: number): void {
    const registry = this.#client.sources.registry;
    if (registry === undefined) return;
    if (this.#registryPlace === null) {
      this.#registryTrouble = 'its config directory is not known';
      return;
    }
    const { files, counters } = this.#sources;
    const { file } = this.#registryPlace;
    const info = files.info(file);
    if (info === null) {
      this.#registryTrouble = 'it has no entry';
      this.#registry = null;
      return;
    }
    const stamp = stampOf(info);
    if (this.#registry?.stamp === stamp) {
      this.#registry.seenAtMs = nowMs;
      return;
    }
    const read = files.readSmall(file, registryBytesMax);
    const entry = read.ok ? registry.parse(read.text) : null;
    if (entry === null) {
      // Caught half-written it will be whole at the next look; until then the last word stands, with its age.
      this.#registryTrouble = `its entry is ${read.ok ? 'invalid' : read.reason}`;
      counters.add(read.ok ? 'registry.invalid' : `registry.${read.reason}`);
      return;
    }
    if (!isEntryOf(entry, this.#process)) {
      this.#registryTrouble = "its entry is another process's";
      counters.add('registry.other-process');
      this.#registry = null;
      return;
    }
    this.#registryTrouble = entry.activity === 'unclear' ? 'its status is a word unknown here' : null;
    // A time that has not come yet is none.
    const sinceMs = entry.sinceMs === null ? null : Math.min(entry.sinceMs, nowMs);
    this.#registry = { entry: { ...entry, sinceMs }, seenAtMs: nowMs, stamp };
  }

  #switchSession(sessionId: string): void {
    this.#sessionId = sessionId;
    this.#cwd = this.#registry?.entry.cwd ?? this.#hintedCwd;
    this.#lines = null;
    this.#transcriptTrouble = null;
    this.#isLastLineBad = false;
    Object.assign(this.#lineCounts, { read: 0, telling: 0 });
    this.#transcriptSeen = null;
    this.#restarted = true;
  }

  #hasLines(): boolean {
    if (this.#lines === null && this.#sessionId !== null && this.#configDir !== null) {
      const { files } = this.#sources;
      const place = findTranscript(this.#client.sources.record, files, this.#configDir, this.#cwd, this.#sessionId);
      if (place !== null) this.#lines = new LineFollower(files, place);
    }
    return this.#lines !== null;
  }

  #readTranscript(nowMs: number): Pick<Observation, 'events' | 'more'> {
    const { counters } = this.#sources;
    const record = this.#client.sources.record;
    if (record === undefined || !this.#hasLines() || this.#lines === null) return { events: [], more: false };
    const batch = this.#lines.poll();
    if (batch.restarted) {
      this.#restarted = true;
      counters.add('transcript.restarted');
    }
    if (batch.oversized > 0) counters.add('transcript.oversized', batch.oversized);
    if (batch.failure !== null) {
      this.#transcriptTrouble = `its file is ${batch.failure}`;
      counters.add(`transcript.${batch.failure}`);
      return { events: [], more: false };
    }
    if (this.#lines.inode !== null) {
      const { path, inode, size } = this.#lines;
      this.#transcriptSeen = { path, inode, size, seenAtMs: nowMs };
    }
    const events: Observation['events'] = [];
    for (const line of batch.lines) {
      const parsed = record.parseLine(line.text, String(line.offset));
      this.#isLastLineBad = !parsed.ok;
      if (!parsed.ok) counters.add('transcript.invalid-line');
      else if (!parsed.sidechain) {
        for (const event of parsed.events) events.push({ event: this.#timed(event, nowMs), offset: line.offset });
      }
    }
    this.#lineCounts.read += batch.lines.length;
    this.#lineCounts.telling += events.length;
    const { read, telling } = this.#lineCounts;
    const isStrange = read >= strangeLines && telling === 0;
    this.#transcriptTrouble = isStrange
      ? 'its format is unknown here'
      : this.#isLastLineBad
        ? 'its last line cannot be read'
        : null;
    return { events, more: batch.more };
  }

  /** Hooks name it, the earlier run did, or it is the only client in its directory. */
  #hinted({ told, taken }: SessionHint, alive: boolean): string | null {
    if (told !== null) {
      this.#hintedCwd = told.cwd;
      return told.sessionId;
    }
    if (!alive || this.#configDir === null) return this.#sessionId;
    const { files, processes } = this.#sources;
    const cwd = processes.directory(this.#process.pid);
    const others = taken();
    if (cwd === null || others === null) return this.#sessionId;
    this.#hintedCwd = cwd;
    const sinceMs = processes.startedAtMs(this.#process);
    return inferSession(this.#client.sources.record, files, this.#configDir, cwd, sinceMs, others) ?? this.#sessionId;
  }

  #isRegistryLeft(): boolean {
    return this.#registryPlace !== null && this.#sources.files.info(this.#registryPlace.file) !== null;
  }

  #compactAsked(nowMs: number): number | null {
    const history = this.#client.sources.typedHistory;
    if (history === undefined || this.#configDir === null || this.#sessionId === null) return null;
    const last = this.#sources.typed.last(history, this.#configDir, this.#sessionId, nowMs);
    return last !== null && last.command === this.#client.dialect.commands.compact?.mark ? last.atMs : null;
  }

  #timed(event: SessionEvent, nowMs: number): SessionEvent {
    if (!Number.isNaN(event.atMs)) this.#lastAtMs = Math.min(event.atMs, nowMs);
    return { ...event, atMs: this.#lastAtMs };
  }
}

function stampOf(info: FileInfo): string {
  return `${info.inode}:${info.size}:${info.mtimeMs}`;
}
