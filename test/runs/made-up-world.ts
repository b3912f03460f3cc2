// A world in which handoffs run that is made up but for the document's file: one agent with its client, the database, and
// daemons that may die at any point.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, defaultConfig } from '../../src/config/schema.ts';
import { Handoffs, type HandoffsParts } from '../../src/handoff/handoffs.ts';
import { findHome } from '../../src/home/home.ts';
import type { AgentView, State } from '../../src/model/agent.ts';
import type { Json } from '../../src/model/event.ts';
import {
  type Handoff,
  type HandoffAction,
  type HandoffDeed,
  type HandoffStep,
  type OddHandoff,
  stepOf,
} from '../../src/model/handoff.ts';
import type { Incident } from '../../src/model/incident.ts';
import { keepNotAfter } from '../../src/model/not-after.ts';
import { fail, ok } from '../../src/model/result.ts';
import type { SessionFact } from '../../src/model/session-event.ts';
import { untrusted } from '../../src/model/text.ts';
import { WatchfulClock } from '../../src/watch/watchful-clock.ts';

export const dir = mkdtempSync(path.join(os.tmpdir(), 'wk-handoffs-'));

class Killed extends Error {}

type Watched = NonNullable<ReturnType<HandoffsParts['agent']>>;

/** One agent with its client, and the database: what outlives a killed daemon. */
export class MadeUp {
  readonly project = mkdtempSync(path.join(dir, 'project-'));
  shownAs = this.project;
  readonly config: Config = defaultConfig();
  /** By a clock that is right and never jumps. */
  nowMs = Date.now();
  /** What the wall clock is wrong by. */
  wrongMs = 0;
  #clock = new WatchfulClock({ nowMs: () => this.wallMs, monotonicMs: () => this.nowMs });
  session: string | null = 'old';
  state: State = 'idle';
  readonly done: string[] = [];
  /** The ids of work that was tracked for it. */
  running: string[] = [];
  readonly #rows = new Map<string, Handoff>();
  readonly documents = new Map<string, string>();
  readonly #ledger: (HandoffAction & { handoff: string })[] = [];
  readonly #record = new Map<string, SessionFact[]>();
  #daemon: Handoffs | null = null;
  #wrote = false;
  /** The daemon dies when it comes to this point; 0: never. */
  killAt = 0;
  #point = 0;
  killed = false;
  /** The first document lacks its nonce; the fresh context does not read it. */
  isPoor = false;
  /** How the agent puts its document. */
  wording: (document: string) => string = (document) => document;
  isDeaf = false;
  /** What becomes of the file when the context is cleared. */
  meanwhile: (file: string) => void = () => {};
  isPaused = false;
  /** The database does not say what was handed over before. */
  isUnreadable = false;
  /** The disk of the database is full: what is there can be read. */
  isFull = false;
  /** The fresh context refuses to be told. */
  isShut = false;
  isTold = false;
  /** Open rows that are not as Watchkeeper writes them. */
  oddRows: OddHandoff[] = [];
  /** What is wrong, as the handoffs post it. */
  posted: string[] = [];
  /** Rows that were not trusted. */
  readonly odd: string[][] = [];
  /** The client dies as soon as this step is on record. */
  crashAt: HandoffStep | null = null;
  /** Another agent of the project: how often it was asked for its document. */
  otherAsks = 0;
  /** What the fresh context read. */
  read: string | null = null;

  get wallMs(): number {
    return this.nowMs + this.wrongMs;
  }

  get points(): number {
    return this.#point;
  }

  get handoff(): Handoff | undefined {
    return this.handoffs('a-ps').at(-1);
  }

  handoffs(agent: string): Handoff[] {
    return [...this.#rows.values()].filter((row) => row.agent === agent);
  }

  /** What it was asked for its document, each time. */
  get asks(): string[] {
    return this.#ledger.flatMap(({ deed, typed }) => (deed === 'ask' && typed !== null ? [typed] : []));
  }

  /** Whose the work of the old session is, by what the daemon knows. */
  get takesWork(): boolean | null {
    return this.#daemon?.isSameWork('a-ps', 'old', 'new') ?? null;
  }

  next(agent = 'a-ps'): string | null {
    return this.#daemon?.next(agent) ?? null;
  }

  /** A daemon is started: it settles what the one before left open, and reads the client's record from its beginning. */
  async start(): Promise<boolean> {
    for (const action of this.#ledger.filter(({ outcomes }) => outcomes.length === 0)) {
      const tag = /\[(wk-\w+)\]$/.exec(action.typed ?? '')?.[1];
      const facts = this.#record.get(this.session ?? '') ?? [];
      const arrived = facts.some((fact) => fact.kind === 'prompt' && tag !== undefined && fact.tags.includes(tag));
      action.outcomes.push({ outcome: arrived ? 'confirmed' : 'uncertain', reason: 'daemon-restarted' });
    }
    this.#clock = new WatchfulClock({ nowMs: () => this.wallMs, monotonicMs: () => this.nowMs });
    const daemon = new Handoffs(this.#parts());
    this.#daemon = daemon;
    this.#clock.onSet((byMs, nowMs) => daemon.clockSet(byMs, nowMs));
    const isRead = await daemon.restore();
    for (const fact of this.#record.get(this.session ?? '') ?? []) this.#tell(fact);
    return isRead;
  }

  request(agent = 'a-ps'): Promise<unknown> {
    return this.#survive(() => this.#daemon?.request(agent, false, 'human me'));
  }

  async round(): Promise<void> {
    this.nowMs += 5_000;
    // A file that changed this very moment does not count yet, by the clock of its file system.
    if (this.#wrote || this.handoff?.steps.at(-1)?.step === 'cleared') await sleep(25);
    this.#wrote = false;
    await this.#survive(async () => {
      this.#daemon?.round([this.view(), this.view('b-ps')]);
      await this.#daemon?.settled();
    });
    if (this.killed) {
      this.killed = false;
      await this.start();
    }
  }

  async #survive(work: () => Promise<unknown> | undefined): Promise<unknown> {
    return work()?.catch((error: unknown) => this.#failed(error));
  }

  #failed(error: unknown): void {
    if (!(error instanceof Killed)) throw error;
    this.killed = true;
  }

  /** Here a daemon may die. */
  #at(): void {
    this.#point += 1;
    if (this.#point === this.killAt) throw new Killed();
  }

  view(agent = 'a-ps'): AgentView {
    const isOther = agent !== 'a-ps';
    const reading = { state: isOther ? 'idle' : this.state, detail: null };
    const process = { bootId: 'b', pid: 1, startTicks: '1' };
    const sessionId = isOther ? 'other' : this.session;
    const known = { agent, project: 'a', authority: 'manage', cwd: this.shownAs, sessionId };
    return { ...known, reading, process, background: [], findings: [], context: null } as unknown as AgentView;
  }

  /** People were told of it, or not yet. */
  #board(): HandoffsParts['board'] {
    return {
      about: () => ({ tells: this.isTold ? 1 : 0, ackedMs: null }) as Incident,
      findings: () => [],
      post: (_by, troubles) => {
        this.posted = troubles.map(({ agent, finding }) => `${agent} ${finding.check} ${finding.subject}`);
      },
      view: (name) => this.view(name),
      views: () => [this.view(), this.view('b-ps')],
    };
  }

  #parts(): HandoffsParts {
    const watched = {
      sessionId: this.session,
      seen: { client: { name: 'claude-code' }, place: {}, configDir: null },
    } as unknown as Watched;
    return {
      host: 'h',
      hold: () => 'ours',
      isElsewhere: () => false,
      home: findHome({ WATCHKEEPER_HOME: path.join(dir, 'home') }),
      uid: process.getuid?.() ?? 0,
      clock: this.#clock,
      git: { head: async () => null, hasCommit: async () => 'no' },
      config: () => this.config,
      configFor: () => this.config,
      handoffWaits: () => false,
      paused: () => this.isPaused,
      quietUntilMs: () => null,
      agent: () =>
        Object.assign(watched, {
          sessionId: this.session,
          handoffDue: () => ({ now: false, percent: 10, reason: 'room-left' }),
        }),
      board: this.#board(),
      flush: async () => true,
      news: () => {},
      running: () => this.running,
      directory: () => null,
      hasSession: () => true,
      odd: (...row) => this.odd.push(row),
      failed: (error) => this.#failed(error),
      store: {
        beginHandoff: async (handoff) => {
          if (this.oddRows.some((row) => row.agent === handoff.agent)) return fail('refused', 'there is one');
          this.#at();
          this.#rows.set(handoff.id, structuredClone(handoff));
          this.#at();
          return ok(undefined);
        },
        takeHandoffStep: async (id, from, taken, change) => {
          const row = this.#rows.get(id);
          if (row === undefined || stepOf(row) !== from) throw new Error(`${id} does not stand at ${from}`);
          if (this.isFull) return fail('unavailable', 'the disk is full');
          this.#at();
          row.steps.push({ ...taken });
          row.newSession = change.newSession ?? row.newSession;
          row.sentBack = change.sentBack ?? row.sentBack;
          row.sha256 = change.document?.sha256 ?? row.sha256;
          if (change.document !== undefined) this.documents.set(id, change.document.text);
          this.#at();
          if (taken.step === this.crashAt) this.state = 'ended';
          return ok(undefined);
        },
        oddHandoffs: async () => ok(structuredClone(this.oddRows)),
        endOddHandoff: async (id) => {
          this.oddRows = this.oddRows.filter((row) => row.id !== id);
          return ok(undefined);
        },
        loadHandoffs: async () =>
          this.isUnreadable ? fail('unavailable', 'no') : ok([...this.#rows.values()].map((row) => this.#read(row))),
        handoffText: async (id) => ok(this.documents.get(id) ?? null),
        handoffActions: async (id) =>
          ok(this.#ledger.filter(({ handoff }) => handoff === id).map((row) => this.#read(row))),
      },
      actions: {
        prompt: async ({ agent, text, about = {} }) => {
          const tag = `wk-${this.#ledger.length}abc`;
          const said = { id: 'i', tag, agent, proof: null, proof_ms: 1, answer: null };
          if (this.isShut && about.deed === 'resume') {
            this.#intend(about, `${text} [${tag}]`).outcomes.push({ outcome: 'refused', reason: 'draft' });
            return { ...said, outcome: 'refused', reason: 'draft' };
          }
          if (agent !== 'a-ps') this.otherAsks += 1;
          await this.#deed(about, `${text} [${tag}]`, () => agent === 'a-ps' && this.#hear(text, tag));
          return { ...said, outcome: 'confirmed', reason: null };
        },
        clear: (_agent, { about }) =>
          this.#command(about, '/clear', () => {
            this.#go('new');
            this.meanwhile(this.handoff?.file ?? '');
          }),
        resume: (_agent, session, { about }) => this.#command(about, `/resume ${session}`, () => this.#go(session)),
        run: (_agent, text, { about }) => this.#command(about, text, () => this.#hear(text, '')),
        interrupt: (_agent, { about = {} }) => this.#command(about, null, () => {}),
      },
    };
  }

  /** As it comes through the border. */
  #read<T extends object>(row: T): T {
    const read = structuredClone(row);
    keepNotAfter(read, this.wallMs);
    return read;
  }

  async #command(about: { [key: string]: Json }, typed: string | null, effect: () => void) {
    await this.#deed(about, typed, effect);
    return { id: 'i', agent: 'a-ps', outcome: 'confirmed' as const, reason: null, proof: null, proof_ms: 1 };
  }

  /** Intent, effect, outcome: the daemon may die before and after each. */
  async #deed(about: { [key: string]: Json }, typed: string | null, effect: () => unknown): Promise<void> {
    this.#at();
    const action = this.#intend(about, typed);
    this.#at();
    this.done.push(action.deed);
    effect();
    this.#at();
    action.outcomes.push({ outcome: 'confirmed', reason: null });
    this.#at();
  }

  #intend(about: { [key: string]: Json }, typed: string | null): HandoffAction & { handoff: string } {
    const action = {
      id: `${this.#ledger.length}`,
      handoff: String(about.handoff),
      deed: about.deed as HandoffDeed,
      after: Number(about.after),
      why: (about.why ?? null) as string | null,
      atMs: this.wallMs,
      outcomes: [] as HandoffAction['outcomes'],
      typed,
    };
    this.#ledger.push(action);
    return action;
  }

  #go(session: string): void {
    this.session = session;
  }

  /** An obedient agent, whose turn takes no time. */
  #hear(text: string, tag: string): void {
    this.#write({ kind: 'prompt', origin: 'typed', chars: text.length, tags: [tag] });
    const file = /(\/\S+\.md)/.exec(text)?.[1] ?? '';
    const asks = /write (a handoff|the whole) document/.test(text);
    if (this.isDeaf && !asks) {
      this.#write({ kind: 'turn-end', durationMs: 1, pendingSubagents: 0 });
      return;
    }
    const sign = { hash: 'h', target: file, act: asks ? 'change' : 'look', quick: true, edit: null } as const;
    this.#write({ kind: 'tool-call', id: tag, tool: asks ? 'Write' : 'Read', about: null, sign });
    if (asks) {
      mkdirSync(path.dirname(file), { recursive: true });
      const isGood = !this.isPoor || text.includes('not good yet');
      writeFileSync(file, this.wording(document(isGood ? (/Nonce \((\w+)\)/.exec(text)?.[1] ?? '') : 'forgotten')));
      utimesSync(file, this.wallMs / 1000, this.wallMs / 1000);
      this.#wrote = true;
    }
    if (!asks) this.read = existsSync(file) ? readFileSync(file, 'utf8') : null;
    this.#write({ kind: 'tool-result', id: tag, isError: false, started: null });
    this.#write({ kind: 'reply', model: 'm', messageId: tag, usage: null, ends: true, text: untrusted('Done.') });
  }

  #write(fact: SessionFact): void {
    const session = this.session ?? '';
    this.#record.set(session, [...(this.#record.get(session) ?? []), fact]);
    this.#tell(fact);
  }

  #tell(fact: SessionFact): void {
    this.#daemon?.told('a-ps', { atMs: this.wallMs, key: 'k', fact });
  }
}

function document(nonce: string): string {
  const parts = ['Goal', 'State', 'Decisions', 'Next step', 'Open files', 'Background work', 'How to verify'];
  const filled = parts.map((name) => `## ${name}\nWhat there is to say about it, in a line.\n`);
  return [...filled, '## Git HEAD\nnone\n', `## Nonce\n${nonce}\n`].join('\n');
}
