// One agent in a made-up pane, with everything of ours that types into it: what was typed, and what the ledger says.
import type { PaneNow } from '../../src/act/pane-facts.ts';
import type { PaneTerminal, Typed } from '../../src/act/pane-terminal.ts';
import type { Actions } from '../../src/actions/actions.ts';
import type { EngineParts } from '../../src/actions/engine.ts';
import { Typist } from '../../src/actions/typist.ts';
import { claudeCode } from '../../src/clients/claude-code/client.ts';
import type { ScreenReading } from '../../src/clients/client.ts';
import { defaultConfig } from '../../src/config/schema.ts';
import type { Action, ActionOutcome } from '../../src/model/action.ts';
import type { Authority, Detail, RegistryActivity, State } from '../../src/model/agent.ts';
import type { PaneFacts } from '../../src/model/delivery.ts';
import { fail, ok } from '../../src/model/result.ts';
import type { SessionEvent, SessionFact } from '../../src/model/session-event.ts';
import type { ProcessInfo } from '../../src/model/world.ts';
import { agentView } from './agent-view.ts';
import { madeActions } from './made-actions.ts';

const process: ProcessInfo = {
  ...{ bootId: 'b', pid: 7, startTicks: '70', ppid: 1, uid: 1, command: 'claude', runState: 'S' },
  ...{ processGroup: 7, terminal: 34_817, terminalGroup: 7 },
};
/** The pane's own process, in the same terminal. */
const shellPid = 3;
const onlookers = { format: '', value: '' };
const pane = {
  ...{ pid: 7, dead: false, mode: '', synchronized: false, command: 'claude' },
  ...{ onlookers, controlled: false },
};
const file = { kind: 'file', size: 1, mtimeMs: 1, inode: '1', bornMs: 1, uid: 1 } as const;

export const oldSession = '0b7e8a52-0000-4000-8000-000000000000';
export const newSession = '0b7e8a52-1111-4000-8000-000000000000';

/** The rows; a daemon that is started later finds them. */
export class Ledger {
  readonly actions: Action[] = [];
  readonly outcomes: ActionOutcome[] = [];
  isGone = false;

  of(id: string): string[] {
    return this.outcomes.filter(({ actionId }) => actionId === id).map(({ outcome }) => outcome);
  }

  readonly store = {
    intend: async (action: Action) => {
      if (this.isGone) return fail('unavailable', 'the database is gone');
      this.actions.push(action);
      return ok(undefined);
    },
    conclude: async (outcome: ActionOutcome) => {
      this.outcomes.push(outcome);
      return ok(undefined);
    },
    openActions: async () =>
      ok(
        this.actions
          .filter(({ id }) => this.of(id).every((word) => ['confirmed', 'queued', 'reacted'].includes(word)))
          .map((action) => ({ action, delivered: this.of(action.id).length > 0 })),
      ),
  };
}

export class TypedAgent {
  readonly config = defaultConfig();
  readonly ledger: Ledger;
  isPaused = false;
  /** Rules do nothing so soon after a start. */
  quietUntilMs: number | null = null;
  authority: Authority = 'manage';
  state: State = 'idle';
  detail: Detail | null = null;
  /** Of its context. */
  percent = 0;
  /** What its registry says in this moment; null: it has no entry. */
  status: string | null = 'idle';
  /** What hooks and screen say in its place. */
  standIn: RegistryActivity | null = null;
  /** Its client has no registry: what its screen shows has to do. */
  shows: ScreenReading['shows'] | null = null;
  session = oldSession;
  people: PaneFacts['people'] = [];
  /** Its process and its pane are otherwise by now; null: gone. */
  processNow: Partial<ProcessInfo> | null = {};
  paneNow: Partial<PaneNow> | null = {};
  box = '';
  stashed = '';
  /** Every key and every paste. */
  readonly typed: string[] = [];
  readonly submitted: string[] = [];
  /** What becomes of it all between the paste and the Enter. */
  afterPaste: () => void = () => {};
  /** The client writes what it took into its record. */
  isRecorded = true;
  nowMs = 1_000_000;
  compactAskedMs: number | null = null;
  /** What its client's record says. */
  readonly records: SessionEvent[] = [];
  typist!: Typist;
  actions!: Actions;

  constructor(ledger = new Ledger(), more: Partial<EngineParts> = {}) {
    this.ledger = ledger;
    this.start(more);
  }

  /** A daemon; also another one, after the one before was killed. `more`: what else it works with. */
  start(more: Partial<EngineParts> = {}): void {
    const clock = { nowMs: () => this.#clock(), monotonicMs: () => this.#clock() };
    const world = { config: () => this.config, paused: () => this.isPaused, agent: () => this.#watched(), clock };
    const quietUntilMs = () => this.quietUntilMs;
    const readSmall = () => (this.status === null ? { ok: false } : { ok: true, text: this.#entry(), info: file });
    this.typist = new Typist({
      ...world,
      processes: { info: (pid: number) => this.#info(pid) } as never,
      files: { readSmall } as never,
      terminal: () => this.#terminal(),
      decided: () => {},
      hold: () => 'ours',
      holdNumber: () => 1,
      trust: () => ({ steadyForMs: Number.POSITIVE_INFINITY, knownForMs: this.nowMs }),
    });
    this.actions = madeActions({ ...world, quietUntilMs, typist: this.typist, store: this.ledger.store, ...more });
  }

  prompt(text = 'Go on with it.') {
    return this.actions.prompt({
      host: 'h',
      agent: 'a-ps',
      text,
      trigger: 'rule:silent-stop',
      by: 'rule',
      finding: null,
      waitMs: 0,
    });
  }

  /** The client's record has it. */
  record(tag: string): void {
    const fact: SessionFact = { kind: 'prompt', origin: 'typed', chars: 9, tags: [tag] };
    this.tell(fact);
  }

  tell(fact: SessionFact): void {
    const event = { key: `${this.records.length}`, atMs: this.nowMs, fact };
    this.records.push(event);
    this.actions.told('a-ps', event);
  }

  /** Every look at it takes a moment. */
  #clock(): number {
    this.nowMs += 100;
    return this.nowMs;
  }

  #watched() {
    const findInputBox = (screen: string) => ({ text: screen, mark: '❯', stashed: this.stashed !== '', chosen: null });
    const screen = { read: () => ({ shows: this.shows }) as ScreenReading };
    const sources = this.shows === null ? claudeCode.sources : { screen };
    return {
      seen: {
        client: { ...claudeCode, dialect: { ...claudeCode.dialect, findInputBox }, sources },
        process,
        configDir: '/home/u/.claude',
        place: { socket: '/s', pane: { id: '%1', session: 'a-ps', windowIndex: 0, paneIndex: 0, pid: 7, dead: false } },
      },
      view: agentView(this.state, this.detail, 5, {
        authority: this.authority,
        sessionId: this.session,
        context: { used: 1, window: 1, usable: 1, percent: this.percent, source: 'transcript', atMs: 1 },
      }),
      believed: (activity: RegistryActivity | null) => activity,
      hasRegistry: this.shows === null,
      standIn: () => this.standIn,
      compactAskedMs: this.compactAskedMs,
      sessionId: this.session,
    } as never;
  }

  #info(pid: number): ProcessInfo | null {
    if (pid === shellPid) return { ...process, pid, command: 'sh', processGroup: pid };
    return pid === 7 && this.processNow !== null ? { ...process, ...this.processNow } : null;
  }

  #entry(): string {
    return JSON.stringify({ pid: 7, procStart: '70', sessionId: this.session, status: this.status });
  }

  #terminal(): PaneTerminal {
    const type = (what: string): Typed => {
      this.typed.push(what);
      return 'done';
    };
    return {
      facts: async () => (this.paneNow === null ? null : { ...pane, people: this.people, ...this.paneNow }),
      fence: async () => true,
      screen: async () => this.box,
      paste: async (text) => {
        this.box += text;
        const typed = type(text);
        this.afterPaste();
        return typed;
      },
      keys: async (name) => {
        if (name === 'Enter') this.#submit();
        if (name === 'Escape' && this.isRecorded) this.tell({ kind: 'interrupted' });
        if (name === 'C-s') [this.box, this.stashed] = [this.stashed, this.box];
        else if (name === 'C-u') this.box = '';
        else if (name === 'Enter') [this.box, this.stashed] = [this.stashed, ''];
        return type(name);
      },
      leaveCopyMode: async () => void type('cancel'),
    };
  }

  #submit(): void {
    this.submitted.push(this.box);
    const tag = /\[(wk-\w+)\]$/.exec(this.box)?.[1];
    if (this.box === '/clear') this.session = newSession;
    if (this.box === '/compact') this.compactAskedMs = this.nowMs;
    if (this.box.startsWith('/resume ')) this.session = this.box.slice('/resume '.length);
    if (tag !== undefined && this.isRecorded) this.record(tag);
  }
}
