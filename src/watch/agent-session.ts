import { loopLimits } from '../detect/loops/check.ts';
import { type LoopTrouble, LoopWatch } from '../detect/loops/watch.ts';
import { newSession, type SessionFacts, takeEvent } from '../detect/session.ts';
import type { Values } from '../detect/thresholds.ts';
import { TurnWords } from '../detect/turn-words.ts';
import type { ContextReading, Sighting } from '../model/agent.ts';
import type { WatchEvent } from '../model/event.ts';
import type { SessionEvent } from '../model/session-event.ts';
import type { ContextPoint, SessionRow, StoredAgent } from '../model/store.ts';
import { shown } from '../model/text.ts';
import type { Observation } from '../sense/agent-follower.ts';
import type { AgentEvents } from './agent-events.ts';
import type { AgentInbox, HeardHook } from './agent-inbox.ts';
import { isSaid } from './agent-sources.ts';
import { ContextTrail } from './context-trail.ts';

const pathCharsMax = 4_096;

export interface Look {
  /** Everything the client's record says, also what was recorded before. */
  heard: SessionEvent[];
  hooks: HeardHook[];
  events: WatchEvent[];
  /** Sessions whose row changed: the present one, and one that just ended. */
  sessions: SessionRow[];
  points: ContextPoint[];
  changed: boolean;
  more: boolean;
}

interface Parts {
  name: string;
  inbox: AgentInbox;
  /** Of the process. */
  startedAtMs: number;
  limits: () => Values;
}

/** The last word on the agent: this run's, and an earlier one's. */
interface Last {
  view: Sighting | null;
  stored: StoredAgent | null;
}

/** The session an agent is in: folds its transcript, and knows how far that is on record. */
export class AgentSession {
  readonly #parts: Parts;
  readonly #events: AgentEvents;
  readonly #trail: ContextTrail;
  #facts: SessionFacts = newSession();
  #loops: LoopWatch;
  #words = new TurnWords();
  #id: string | null = null;
  #startedAtMs: number;
  #recorded: { inode: string; offset: number } | null = null;
  #transcript: string | null = null;
  /** What it said of its context when we asked, in this session and since it was compacted last. */
  #answer: ContextReading | null = null;
  /** What an earlier run had on record of this session. */
  #before: Pick<Sighting, 'model' | 'context'> | null = null;

  constructor(parts: Parts, events: AgentEvents) {
    this.#parts = parts;
    this.#events = events;
    this.#trail = new ContextTrail(parts.name);
    this.#startedAtMs = parts.startedAtMs;
    this.#loops = this.#watchLoops();
  }

  #watchLoops(): LoopWatch {
    return new LoopWatch({ loop: loopLimits, values: this.#parts.limits });
  }

  get id(): string | null {
    return this.#id;
  }

  get transcript(): string | null {
    return this.#transcript;
  }

  get facts(): SessionFacts {
    return this.#facts;
  }

  get loops(): LoopTrouble[] {
    return this.#loops.open;
  }

  get words(): TurnWords {
    return this.#words;
  }

  /** The newest figures of its context. */
  get points(): readonly ContextPoint[] {
    return this.#trail.points;
  }

  /** Its window as an earlier run knew it, for until the status line speaks again; null: the model's name says it. */
  get storedWindow(): number | null {
    const context = this.#before?.context ?? null;
    // A window that was only said, or worked out from what somebody wrote, is none.
    const window = context === null || isSaid(context) ? null : context.window;
    // It was that model's window, and a figure beyond it proves another.
    const isStill = this.#before?.model === this.#facts.model && (this.#facts.contextUsed ?? 0) <= (window ?? 0);
    return isStill ? window : null;
  }

  get answer(): ContextReading | null {
    return this.#answer;
  }

  answered(context: ContextReading): void {
    this.#answer = context;
  }

  /** A figure of the context that the transcript did not bring. */
  seen(context: ContextReading): ContextPoint[] {
    return this.#trail.seen(context, this.#facts);
  }

  restart(observation: Observation, last: Last, nowMs: number, look: Look): void {
    this.#facts = newSession();
    this.#loops = this.#watchLoops();
    this.#words = new TurnWords();
    if (observation.sessionId === this.#id) {
      // The file was cut or replaced: how far it was recorded says nothing about the new content.
      this.#recorded = null;
      this.#trail.begin(this.#id, null);
      return;
    }
    const previous = this.#id ?? last.stored?.view.sessionId ?? null;
    if (this.#id !== null && last.view !== null) {
      const [row] = this.row(last.view);
      if (row !== undefined) look.sessions.push({ ...row, endedAtMs: nowMs });
    }
    if (previous !== null && previous !== observation.sessionId) {
      look.events.push(
        this.#events.of(
          nowMs,
          observation.registry === null ? 'hook' : 'registry',
          'session',
          { from: previous },
          observation.sessionId,
        ),
      );
      this.#startedAtMs = observation.registry?.entry.sinceMs ?? nowMs;
    }
    this.#id = observation.sessionId;
    this.#recorded = last.stored?.recorded.get(observation.sessionId ?? '') ?? null;
    this.#transcript = null;
    const stored = last.stored?.view;
    this.#before = stored?.sessionId === this.#id ? (stored ?? null) : null;
    const known = this.#before?.context ?? null;
    this.#answer = known?.source === 'answer' ? known : null;
    this.#trail.begin(this.#id, known);
  }

  /** `contextOf`: the context by what was read so far, in a window of this size. */
  take(observation: Observation, contextOf: (told: number | null) => ContextReading | null, look: Look): void {
    const transcript = observation.transcript;
    if (transcript === null) return;
    this.#transcript = transcript.path;
    // A shorter file was cut while nobody watched.
    if (this.#recorded?.inode !== transcript.inode || this.#recorded.offset > transcript.size)
      this.#recorded = { inode: transcript.inode, offset: 0 };
    const recordedTo = this.#recorded.offset;
    const told = this.#parts.inbox.statusLine(this.#id)?.line.window ?? null;
    for (const { event, offset } of observation.events) {
      takeEvent(this.#facts, event);
      // Asked for at once, as its text is kept until then: of a thousand agents that would be too much.
      if (event.fact.kind === 'tool-result') void event.fact.sign?.hash;
      this.#loops.take({ ...event, index: offset });
      this.#words.take(event.fact);
      look.heard.push(event);
      if (event.fact.kind === 'compacted' && event.atMs > (this.#answer?.atMs ?? event.atMs)) this.#answer = null;
      const context = contextOf(told ?? this.storedWindow);
      const points = this.#trail.told(event, context, this.#facts);
      if (offset < recordedTo) continue;
      look.points.push(...points);
      this.#recorded.offset = Math.max(this.#recorded.offset, offset + 1);
      // What the session did under an earlier process is history, not something seen.
      if (event.atMs >= this.#parts.startedAtMs)
        look.events.push(this.#events.ofTranscript(event, transcript.path, this.#id));
    }
  }

  row(view: Sighting): SessionRow[] {
    if (this.#id === null) return [];
    return [
      {
        agent: this.#parts.name,
        sessionId: this.#id,
        transcript: this.#transcript === null ? null : shown(this.#transcript, pathCharsMax),
        recorded: this.#recorded === null ? null : { ...this.#recorded },
        model: view.model,
        contextUsed: view.context?.used ?? null,
        startedAtMs: this.#startedAtMs,
        lastActivityMs: view.lastActivityMs,
        endedAtMs: view.reading.state === 'ended' ? view.reading.sinceMs : null,
      },
    ];
  }
}
