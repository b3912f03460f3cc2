import { type HookFacts, newHookFacts, takeHook } from '../detect/hooks.ts';
import type { Counters } from '../model/counters.ts';
import type { HookEvent, StatusLine } from '../model/hook.ts';
import { keepNewest } from '../model/keep-newest.ts';
import { keepNotAfter, notAfter } from '../model/not-after.ts';
import type { StoredAgent } from '../model/store.ts';
import type { InboxEntry } from '../sense/inbox.ts';

/** A session and where it lives, as a hook or the status line told. */
export interface ToldSession {
  sessionId: string;
  cwd: string | null;
}

export interface HeardHook {
  hook: HookEvent;
  atMs: number;
  file: string;
}

const sessionsMax = 8;

/** What hooks and status line of one agent have said. Sessions are kept apart: a hook may name any. */
export class AgentInbox {
  readonly #counters: Counters;
  readonly #facts = new Map<string, HookFacts>();
  readonly #lines = new Map<string, { line: StatusLine; atMs: number }>();
  #session: ToldSession | null = null;
  #lastHookMs: number | null = null;

  constructor(counters: Counters) {
    this.#counters = counters;
  }

  /** What an earlier run heard: the files are gone. */
  restore(session: ToldSession, hooks: StoredAgent['hooks']): void {
    const facts = newHookFacts();
    for (const { fact, subagent, atMs } of hooks) takeHook(facts, fact, subagent, atMs);
    this.#session = session;
    this.#facts.set(session.sessionId, facts);
    this.#lastHookMs = facts.lastAtMs;
  }

  /** The clock was set back: what was heard is not of later than now. */
  clockSetBack(nowMs: number): void {
    for (const known of [...this.#facts.values(), ...this.#lines.values()]) keepNotAfter(known, nowMs);
    this.#lastHookMs = this.#lastHookMs === null ? null : notAfter(this.#lastHookMs, nowMs);
  }

  /** The session the agent is in, for when the registry does not say. */
  get session(): ToldSession | null {
    return this.#session;
  }

  get lastHookMs(): number | null {
    return this.#lastHookMs;
  }

  facts(sessionId: string | null): HookFacts | null {
    return sessionId === null ? null : (this.#facts.get(sessionId) ?? null);
  }

  statusLine(sessionId: string | null): { line: StatusLine; atMs: number } | null {
    return sessionId === null ? null : (this.#lines.get(sessionId) ?? null);
  }

  /** `known`: the session the registry names, whose word counts more. */
  take(entries: InboxEntry[], known: string | null): HeardHook[] {
    const heard: HeardHook[] = [];
    for (const { item, atMs, file } of entries) {
      if (item.kind === 'statusline') this.#takeLine(item.line, atMs);
      else if (this.#takeHook(item.hook, atMs, known)) heard.push({ hook: item.hook, atMs, file });
    }
    return heard;
  }

  #takeLine(line: StatusLine, atMs: number): void {
    keepNewest(this.#lines, line.sessionId, { line, atMs }, sessionsMax);
    // The client runs it for the session it is in, also right after a new one began.
    this.#session = { sessionId: line.sessionId, cwd: line.cwd };
  }

  #takeHook(hook: HookEvent, atMs: number, known: string | null): boolean {
    if (!hook.known) this.#counters.add('hook.unknown-event');
    const { sessionId, fact } = hook;
    // A conversation changes by starting anew; any other event of a strange session is somebody else's.
    // A process starts up once: another start is that of a client within, or made up.
    const begins = fact.kind === 'session-start' && fact.source !== 'startup';
    if (this.#session === null || begins || sessionId === known) this.#session = { sessionId, cwd: hook.cwd };
    else if (sessionId !== this.#session.sessionId && !this.#facts.has(sessionId)) {
      this.#counters.add('hook.other-session');
      return false;
    }
    const facts = this.#facts.get(sessionId) ?? newHookFacts();
    takeHook(facts, fact, hook.subagent, atMs);
    keepNewest(this.#facts, sessionId, facts, sessionsMax);
    this.#lastHookMs = atMs;
    return true;
  }
}
