import { tmuxPane } from '../act/pane-terminal.ts';
import { Actions, type CommandResult, type DryRun, type PromptResult } from '../actions/actions.ts';
import { findingsOf } from '../actions/answers.ts';
import { ControlClients } from '../actions/control-clients.ts';
import type { ChannelHealth } from '../actions/deeds/notify.ts';
import { type HoldDocument, Holds } from '../actions/holds.ts';
import { PromptTally } from '../actions/prompt-tally.ts';
import { Typist } from '../actions/typist.ts';
import type { Config } from '../config/schema.ts';
import { fillTemplate, type TemplateName } from '../decide/templates.ts';
import type { HostSigns } from '../detect/host-troubles.ts';
import type { Board } from '../findings/board.ts';
import { HostFindings } from '../findings/host-findings.ts';
import { Handoffs } from '../handoff/handoffs.ts';
import type { HandoffNews } from '../handoff/news.ts';
import type { Home } from '../home/home.ts';
import type { Action } from '../model/action.ts';
import type { Authority, Sighting } from '../model/agent.ts';
import type { AgentRef } from '../model/agent-ref.ts';
import { rankOf } from '../model/authority.ts';
import type { Caller } from '../model/caller.ts';
import type { CheckName } from '../model/check.ts';
import type { Incident } from '../model/incident.ts';
import type { SessionEvent } from '../model/session-event.ts';
import type { Files, Processes } from '../model/world.ts';
import { HoldFiles, holdsFolder } from '../record/hold-files.ts';
import { isAlive, ownProcess } from '../record/own-process.ts';
import { readAll } from '../rows/read-all.ts';
import type { WaitingRows } from '../rows/waiting-rows.ts';
import { Keeper } from '../rules/keeper.ts';
import { WorkProgress } from '../rules/progress.ts';
import { Scores } from '../rules/scores.ts';
import { progressTrigger, Spoken } from '../rules/spoken.ts';
import { sharedMs } from '../sense/clock.ts';
import { saysFull, whyFull } from '../sense/disk.ts';
import { localGit } from '../sense/git.ts';
import { findTranscript } from '../sense/transcript-place.ts';
import type { Spawns } from '../spawns/spawns.ts';
import type { Look } from '../watch/agent-session.ts';
import type { Watcher } from '../watch/watcher.ts';
import type { WatchfulClock } from '../watch/watchful-clock.ts';
import { heardLedger } from './ledger-news.ts';
import type { DeedNews } from './news.ts';

interface ActingParts {
  host: string;
  hostName: string;
  home: Home;
  rows: WaitingRows;
  clock: WatchfulClock;
  processes: Processes;
  files: Files;
  environment: NodeJS.ProcessEnv;
  config: () => Config;
  /** It could not write its document without a person. */
  handoffWaits: (agent: string) => boolean;
  paused: () => boolean;
  /** Until when rules do nothing, for the daemon has only just started; null: they may. */
  quietUntilMs: () => number | null;
  /** What people said may be done to agents. */
  said: Map<string, Authority>;
  board: Board;
  watcher: Watcher;
  spawns: Spawns;
  /** Rows and events of handoffs. */
  news: (news: HandoffNews) => void;
  flush: () => Promise<boolean>;
  failed: (error: unknown) => void;
  /** For whoever looks on. */
  notice: (line: string) => void;
  /** What people are told, for the log: whoever looks on hears of it as of every other deed. */
  toldPeople: (line: string) => void;
  /** Everything that was done, or not done, with its outcome. */
  did: (news: DeedNews) => void;
  /** Why rows wait; null: none does for long. */
  databaseAway: () => string | null;
  /** A row of the database that is not what it should be. */
  odd: (table: string, row: string, why: string) => void;
}

export const templateNames: readonly TemplateName[] = [
  'spawn-update',
  'spawn-stalled',
  'spawn-failed',
  'spawn-abandoned',
  'context-check',
  'high-context',
  'handoff',
  'handoff-again',
  'handoff-resume',
  'continue',
  'stalled',
];

/** Words of one's own, or a template and its slots. */
export type PromptWords = string | { template: TemplateName; slots: Record<string, string> };

/** The background work that a prompt asked about, by its ids; null: all that the agent has. */
function askedAbout(action: Action, board: Board): string[] | null {
  if (action.trigger === progressTrigger) return null;
  const ids = findingsOf(action);
  const about = board.open().map(({ incident }) => incident);
  return about.flatMap(({ id, check, subject }) =>
    ids.includes(id) && check === 'spawn-abandoned' && subject !== null ? [subject] : [],
  );
}

/** Everything that acts, behind one door: rules, people and programs pass the same gate and leave the same record. */
export class Acting {
  readonly #parts: ActingParts;
  readonly #holds: Holds;
  readonly #controlClients: ControlClients;
  readonly #typist: Typist;
  readonly #actions: Actions;
  readonly #scores: Scores;
  readonly #spoken: Spoken;
  readonly #hostFindings: HostFindings;
  readonly handoffs: Handoffs;
  readonly promptTally: PromptTally;
  readonly #keeper: Keeper;
  readonly #progress: WorkProgress;
  /** Taken over from another daemon, but what that one did about them is not read yet. */
  readonly #unread = new Set<string>();
  #isReading = false;

  /** Each is given only what was made before it. */
  constructor(given: ActingParts) {
    this.#parts = given;
    const { watcher, spawns, processes, home, paused, notice } = given;
    const agent = (name: string) => watcher.agent(name);
    const configFor = (name: string) => watcher.configFor(name);
    const parts = { ...given, store: given.rows.store, agent, configFor };
    this.#holds = new Holds({
      ...{ home: home.dir, paused, notice, bootMs: sharedMs, isAlive },
      files: new HoldFiles(holdsFolder(processes.uid)),
      self: ownProcess(),
      mode: () => given.config().mode,
    });
    const hold = (view: Sighting) => this.#holds.standing(view);
    const holdNumber = (view: Sighting) => this.#holds.number(view);
    const isElsewhere = (name: string | null) => this.#isElsewhere(name);
    const held = { ...parts, hold, holdNumber, isElsewhere };
    this.#controlClients = new ControlClients(given);
    this.#typist = new Typist({
      ...{ ...held, terminal: tmuxPane, trust: () => given.clock.trust() },
      decided: (...decision) => this.#controlClients.decided(...decision),
    });
    this.#holds.onTaken((view) => void this.#typist.fence(view.agent).catch(given.failed));
    this.#actions = new Actions({
      ...{ ...held, typist: this.#typist, notice: given.toldPeople },
      store: heardLedger(held.store, (id) => this.#trouble(id), given.did),
      lookSoon: (name) => watcher.touch(name),
      answered: (action, context, atMs) => {
        spawns.answered(action.agent, askedAbout(action, given.board));
        if (context === null || action.agent === null) return;
        watcher.agent(action.agent)?.answered(context, atMs);
        watcher.touch(action.agent);
      },
    });
    const acted = { ...held, actions: this.#actions };
    this.#scores = new Scores({
      promptedBy: (tag) => this.#actions.deeds.prompt.answers.promptedBy(tag),
      interruptedByUs: (name, atMs) => this.#actions.interruptedByUs(name, atMs),
      spawnStatus: (name, taskId) => spawns.status(name, taskId),
    });
    this.#spoken = new Spoken(parts);
    this.#hostFindings = new HostFindings(given);
    this.handoffs = new Handoffs({
      ...acted,
      uid: processes.uid,
      running: (name) => spawns.running(name),
      directory: (pid) => processes.directory(pid),
      hasSession: (name, sessionId) => {
        const seen = watcher.agent(name)?.seen;
        if (seen == null || seen.configDir === null) return true;
        return findTranscript(seen.client.sources.record, given.files, seen.configDir, null, sessionId) !== null;
      },
      git: localGit(),
    });
    const rules = {
      ...{ ...acted, spoken: this.#spoken, scores: this.#scores },
      isHandedOver: (name: string) => this.handoffs.running(name) !== null,
      isReadUp: (name: string) => watcher.agent(name)?.isBehind === false,
      isOneOfMany: (name: string, check: CheckName) => this.#hostFindings.covers(name, check),
      progress: (name: string) => spawns.progress(name),
    };
    this.promptTally = new PromptTally(parts);
    this.#keeper = new Keeper(rules);
    this.#progress = new WorkProgress(rules);
  }

  /** What an earlier run left open. Before the first look at the agents, which may bring the proof of it. */
  restore(aheadMs: number): Promise<boolean> {
    return readAll([
      // First: what people were told is known before anything is decided.
      () => this.#parts.rows.restore(),
      () => this.#restoreSaid(),
      () => this.#spoken.restore(),
      () => this.#parts.board.restore(),
      () => this.handoffs.restore(null, aheadMs),
      // Last: from here on the proof is waited for.
      () => this.#actions.recover(),
    ]);
  }

  /** The wall clock was set, or the machine slept: what is waited for is as far away as it was. */
  clockSet(byMs: number, nowMs: number): void {
    for (const each of [this.#parts.board, this.#spoken, this.#progress, this.handoffs]) each.clockSet(byMs, nowMs);
  }

  #trouble(id: string) {
    const open = this.#parts.board.open().find(({ incident }) => incident.id === id);
    if (open === undefined) return null;
    const { check, openedMs } = open.incident;
    return { check, sinceMs: open.last?.sinceMs ?? openedMs };
  }

  async #restoreSaid(): Promise<boolean> {
    const { rows, host, said } = this.#parts;
    const stored = await rows.store.loadAuthorities(host);
    if (stored.ok) for (const [agent, authority] of stored.value) said.set(agent, authority);
    return stored.ok;
  }

  /** What an agent's own record and its hooks said at a look. */
  heard(agent: string, { heard, hooks }: Pick<Look, 'heard' | 'hooks'>): void {
    for (const event of heard) {
      this.#noteOthers(agent, event);
      // First who did it: once a prompt is answered nobody knows any more.
      this.#scores.told(agent, event);
      this.#actions.told(agent, event);
      this.handoffs.told(agent, event);
    }
    for (const hook of hooks) this.#actions.hooked(agent, hook);
  }

  /** What another daemon prompted counts too: who takes an agent over does not say the same again at once. */
  #noteOthers(agent: string, { fact, atMs }: SessionEvent): void {
    if (fact.kind !== 'prompt' || fact.tags.every((tag) => this.#actions.deeds.prompt.answers.promptedBy(tag) !== null))
      return;
    // Of one that was not seen yet it is read what was said long ago.
    const known = this.#parts.board.view(agent);
    if (known !== null) this.#spoken.heard(known, atMs);
  }

  unansweredSince(agent: string): number | null {
    return this.#actions.deeds.prompt.answers.unansweredSince(agent);
  }

  /** Whether it is stored. Less holds from the moment in which it is said, whatever the database does. */
  async setAuthority(agent: string, authority: Authority, by: Caller): Promise<boolean> {
    const { said, board, watcher, rows } = this.#parts;
    const set = () => {
      said.set(agent, authority);
      watcher.touch(agent);
    };
    if (rankOf(authority) <= rankOf(board.view(agent)?.authority ?? 'observe')) set();
    const of = this.#own(agent);
    return this.#actions.setAuthority(of, authority, by, async () => {
      set();
      return (await rows.store.saveAuthority(of, authority)).ok;
    });
  }

  /** One round of the rules over all agents. */
  round(isLast = false): void {
    const { board, rows } = this.#parts;
    this.#readUp(this.#holds.round(board.views()));
    const ours = () => board.views().filter(({ agent }) => !this.#isElsewhere(agent));
    this.#controlClients.round(ours(), (agent) => this.#typist.pane(agent));
    this.handoffs.round(ours());
    this.#hostFindings.look(ours(), this.#signs());
    this.#keeper.round(isLast);
    this.#progress.round(ours());
    rows.catchUp();
  }

  #signs(): HostSigns {
    const { watcher, databaseAway, home, rows } = this.#parts;
    const database = databaseAway() ?? rows.away;
    const refusals = [database, rows.spoolFailure].filter(saysFull);
    return { servers: watcher.servers, database, disk: whyFull(home.dir) ?? refusals[0] ?? null };
  }

  #isElsewhere(agent: string | null): boolean {
    return this.#holds.isElsewhere(agent) || this.#unread.has(agent ?? '');
  }

  /** On one database it has left more than this one knew of. */
  #readUp(gained: readonly string[]): void {
    for (const agent of gained) this.#unread.add(agent);
    if (this.#unread.size === 0 || this.#isReading) return;
    const agents = new Set(this.#unread);
    this.#isReading = true;
    void readAll([
      () => this.#spoken.restore(),
      () => this.#parts.board.restore(agents),
      () => this.handoffs.restore(agents),
      () => this.#actions.recover(agents),
    ])
      .catch(this.#parts.failed)
      .finally(() => {
        // Also when the database says nothing: whom it belongs to is clear, and people are to be called.
        for (const agent of agents) this.#unread.delete(agent);
        this.#isReading = false;
      });
  }

  start(): void {
    this.#holds.start();
  }

  /** What is held is free for others from now on. */
  close(): void {
    this.#holds.close(this.#actions.busy);
  }

  holdOn(agent: string): HoldDocument {
    return this.#holds.document(agent);
  }

  settled(): Promise<void> {
    return Promise.all([this.#keeper, this.#progress, this.handoffs].map((each) => each.settled())).then(() =>
      this.#parts.rows.settled(),
    );
  }

  /** Whoever asks the daemon means an agent of its host. */
  #own(agent: string): AgentRef {
    return { host: this.#parts.host, agent };
  }

  /** A person's prompt: now, also to a busy agent, and exempt from the rate limit. */
  async say(
    agent: string,
    said: PromptWords,
    by: Caller,
    { waitMs, anyway }: { waitMs: number; anyway: boolean },
  ): Promise<PromptResult | { problem: string }> {
    const request = { ...this.#own(agent), waitMs, anyway, trigger: 'human', finding: null, by } as const;
    if (typeof said === 'string') return this.#actions.prompt({ ...request, text: said });
    const filled = fillTemplate(said.template, said.slots, this.#parts.config().templates);
    if (!filled.ok) return { problem: filled.reason };
    const asks = said.template === 'context-check' ? ({ asks: 'context', isAside: true } as const) : {};
    return this.#actions.prompt({ ...request, ...asks, text: filled.text });
  }

  compact(agent: string, by: Caller): Promise<CommandResult> {
    return this.#actions.compact(this.#own(agent), by);
  }

  interrupt(agent: string, by: Caller, waitMs: number): Promise<CommandResult> {
    return this.#actions.interrupt(this.#own(agent), { by, waitMs });
  }

  wouldInterrupt(agent: string): Promise<DryRun> {
    return this.#actions.wouldInterrupt(this.#own(agent));
  }

  /** null: nothing open has this id. */
  async acknowledge(id: string, denied: boolean, by: Caller): Promise<Incident | null> {
    const open = this.#parts.board.open().find(({ incident }) => incident.id.startsWith(id));
    if (open === undefined) return null;
    const { incident } = open;
    await this.#actions.acknowledge(incident, denied, by, async () => {
      await this.#keeper.acknowledge(open, denied);
      if (incident.check === 'handoff-failed' && incident.subject !== null)
        this.handoffs.acknowledged(incident.subject);
      return true;
    });
    return incident;
  }

  get channels(): ChannelHealth[] {
    return this.#actions.deeds.notify.channels;
  }
}
