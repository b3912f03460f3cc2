import { tmuxPane } from '../act/pane-terminal.ts';
import { Actions, type CommandResult, type DryRun, type PromptResult } from '../actions/actions.ts';
import { authorityNow } from '../actions/authority.ts';
import { ControlClients } from '../actions/control-clients.ts';
import type { ChannelHealth } from '../actions/deeds/notify.ts';
import { type HoldDocument, Holds } from '../actions/holds.ts';
import { Typist, type TypistParts } from '../actions/typist.ts';
import type { Config } from '../config/schema.ts';
import { messageFor } from '../decide/message.ts';
import type { RunningSpawns } from '../decide/progress.ts';
import { fillTemplate, type TemplateName } from '../decide/templates.ts';
import { waitWords } from '../decide/wait-words.ts';
import type { HostSigns } from '../detect/host-troubles.ts';
import { HostFindings } from '../findings/host-findings.ts';
import { Keeper } from '../findings/keeper.ts';
import type { OpenIncident } from '../findings/open-incident.ts';
import { Progress } from '../findings/progress.ts';
import { Scores } from '../findings/scores.ts';
import { Spoken } from '../findings/spoken.ts';
import { Handoffs } from '../handoff/handoffs.ts';
import type { HandoffNews } from '../handoff/news.ts';
import type { Home } from '../home/home.ts';
import type { AgentView, Authority } from '../model/agent.ts';
import { rankOf } from '../model/authority.ts';
import type { Caller } from '../model/caller.ts';
import type { CheckName } from '../model/check.ts';
import type { Incident } from '../model/incident.ts';
import type { SessionEvent } from '../model/session-event.ts';
import type { SpawnStatus } from '../model/spawn.ts';
import type { CheckRow, Store } from '../model/store.ts';
import { shown } from '../model/text.ts';
import type { Files, Processes } from '../model/world.ts';
import { HoldFiles, holdsFolder } from '../record/hold-files.ts';
import { isAlive, ownProcess } from '../record/own-process.ts';
import { readAll } from '../rows/read-all.ts';
import { Spool } from '../rows/spool.ts';
import { WaitingRows } from '../rows/waiting-rows.ts';
import { sharedMs } from '../sense/clock.ts';
import { saysFull, whyFull } from '../sense/disk.ts';
import type { Sweep } from '../sense/fleet.ts';
import { localGit } from '../sense/git.ts';
import { findTranscript } from '../sense/transcript-place.ts';
import type { LooseFinding } from '../spawns/spawns.ts';
import type { HeardHook } from '../watch/agent-inbox.ts';
import type { WatchedAgent } from '../watch/watched-agent.ts';
import type { WatchfulClock } from '../watch/watchful-clock.ts';

interface ActingParts {
  host: string;
  hostName: string;
  home: Home;
  store: Store;
  clock: WatchfulClock;
  processes: Processes;
  files: Files;
  environment: NodeJS.ProcessEnv;
  config: () => Config;
  /** With what the file of the project it works in says. */
  configFor: (agent: string) => Config;
  /** It could not write its document without a person. */
  handoffWaits: (agent: string) => boolean;
  paused: () => boolean;
  agent: (name: string) => WatchedAgent | null;
  views: () => AgentView[];
  /** Findings that belong to no agent. */
  loose: () => LooseFinding[];
  progress: (agent: string) => RunningSpawns | null;
  /** Rows and events of handoffs. */
  news: (news: HandoffNews) => void;
  fine: (agent: string) => { check: CheckName; reason: string }[];
  flush: () => Promise<boolean>;
  lookSoon: (agent: string) => void;
  failed: (error: unknown) => void;
  /** For whoever looks on. */
  notice: (line: string) => void;
  recordCheck: (row: CheckRow) => void;
  spawnStatus: (agent: string | null, taskId: string) => SpawnStatus | null;
  /** The tmux servers at the last look. */
  servers: () => Sweep['servers'];
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

export type InboxItem = ReturnType<typeof inboxItem>;

/** Everything that acts, behind one door: rules, people and programs pass the same gate and leave the same record. */
export class Acting {
  readonly #parts: ActingParts;
  readonly #actions: Actions;
  readonly #keeper: Keeper;
  readonly #scores: Scores;
  readonly #spoken: Spoken;
  readonly #progress: Progress;
  readonly #hostFindings: HostFindings;
  readonly #spool: Spool;
  readonly #rows: WaitingRows;
  readonly #controlClients: ControlClients;
  readonly handoffs: Handoffs;
  readonly #holds: Holds;
  /** Taken over from another daemon, but what that one did about them is not read yet. */
  readonly #unread = new Set<string>();
  #isReading = false;
  #overrides = new Map<string, Authority>();

  constructor(given: ActingParts) {
    this.#spool = new Spool(given.home.spoolDir, given.files);
    this.#rows = new WaitingRows({ ...given, spool: this.#spool });
    const parts = { ...given, store: this.#rows.store };
    this.#parts = parts;
    const { processes, home, config, paused, notice } = parts;
    this.#holds = new Holds({
      ...{ home: home.dir, paused, notice, bootMs: sharedMs, isAlive },
      files: new HoldFiles(holdsFolder(processes.uid)),
      self: ownProcess(),
      mode: () => config().mode,
      taken: ({ agent }) => void typist.fence(agent).catch(parts.failed),
    });
    const hold = (view: AgentView) => this.#holds.standing(view);
    const holdNumber = (view: AgentView) => this.#holds.number(view);
    const isElsewhere = (agent: string | null) => this.#isElsewhere(agent);
    this.#controlClients = new ControlClients({
      clock: parts.clock,
      idFor: (...about) => this.#keeper.idFor(...about),
      pane: (agent) => typist.pane(agent),
    });
    const decided: TypistParts['decided'] = (...decision) => this.#controlClients.decided(...decision);
    const held = { ...parts, hold, holdNumber };
    const typist = new Typist({ ...held, terminal: tmuxPane, decided, trust: () => parts.clock.trust() });
    const actions = new Actions({ ...held, typist });
    this.#actions = actions;
    const isHandedOver = (agent: string) => this.handoffs.running(agent) !== null;
    const isReadUp = (agent: string) => parts.agent(agent)?.isBehind === false;
    const promptedBy = (tag: string) => actions.deeds.prompt.answers.promptedBy(tag);
    const interruptedByUs = (agent: string, atMs: number) => actions.interruptedByUs(agent, atMs);
    this.#scores = new Scores({ promptedBy, interruptedByUs, spawnStatus: parts.spawnStatus });
    this.#hostFindings = new HostFindings({
      ...parts,
      host: parts.hostName,
      idFor: (...about) => this.#keeper.idFor(...about),
      isOpen: (check, subject) => this.#keeper.about(null, check, subject) !== null,
      signs: () => this.#signs(),
    });
    this.#spoken = new Spoken(parts);
    this.#keeper = new Keeper({
      ...parts,
      hold,
      isElsewhere,
      actions,
      spoken: this.#spoken,
      scores: this.#scores,
      isHandedOver,
      isReadUp,
      isOneOfMany: (agent, check) => this.#hostFindings.covers(agent, check),
    });
    this.#progress = new Progress({ ...parts, isHandedOver, isReadUp, actions, spoken: this.#spoken });
    this.handoffs = new Handoffs({
      ...parts,
      hold,
      isElsewhere,
      uid: parts.processes.uid,
      directory: (pid) => parts.processes.directory(pid),
      hasSession: (name, sessionId) => {
        const seen = parts.agent(name)?.seen;
        if (seen == null || seen.configDir === null) return true;
        return findTranscript(seen.client.sources.record, parts.files, seen.configDir, null, sessionId) !== null;
      },
      git: localGit(),
      actions,
      view: (name) => parts.views().find(({ agent }) => agent === name) ?? null,
      idFor: (agent, check, subject) => this.#keeper.idFor(agent, check, subject),
      isTold: (agent, handoff) => {
        const incident = this.#keeper.about(agent, 'handoff-failed', handoff);
        return incident !== null && (incident.tells > 0 || incident.ackedMs !== null);
      },
    });
  }

  /** What an earlier run left open. Before the first look at the agents, which may bring the proof of it. */
  restore(aheadMs: number): Promise<boolean> {
    return readAll([
      // First: what people were told is known before anything is decided.
      () => this.#rows.restore(),
      () => this.#restoreAuthorities(),
      () => this.#spoken.restore(),
      () => this.#keeper.restore(),
      () => this.handoffs.restore(null, aheadMs),
      // Last: from here on the proof is waited for.
      () => this.#actions.recover(),
    ]);
  }

  /** The wall clock was set, or the machine slept: what is waited for is as far away as it was. */
  clockSet(byMs: number, nowMs: number): void {
    for (const each of [this.#keeper, this.#progress, this.handoffs]) each.clockSet(byMs, nowMs);
  }

  async #restoreAuthorities(): Promise<boolean> {
    const overrides = await this.#parts.store.loadAuthorities(this.#parts.host);
    if (overrides.ok) this.#overrides = overrides.value;
    return overrides.ok;
  }

  told(agent: string, event: SessionEvent): void {
    this.#noteOthers(agent, event);
    // First who did it: once a prompt is answered nobody knows any more.
    this.#scores.told(agent, event);
    this.#actions.told(agent, event);
    this.handoffs.told(agent, event);
  }

  /** What another daemon prompted counts too: who takes an agent over does not say the same again at once. */
  #noteOthers(agent: string, { fact, atMs }: SessionEvent): void {
    if (fact.kind !== 'prompt' || fact.tags.every((tag) => this.#actions.deeds.prompt.answers.promptedBy(tag) !== null))
      return;
    const project = this.#parts.agent(agent)?.view?.project;
    if (project !== undefined) this.#spoken.heard({ agent, project }, atMs);
  }

  hooked(agent: string, hook: HeardHook): void {
    this.#actions.hooked(agent, hook);
  }

  unansweredSince(agent: string): number | null {
    return this.#actions.deeds.prompt.answers.unansweredSince(agent);
  }

  idFor(agent: string | null, check: CheckName, subject: string | null): string {
    return this.#keeper.idFor(agent, check, subject);
  }

  /** The open incident about it; null: there is none. */
  about(agent: string | null, check: CheckName, subject: string | null): Incident | null {
    return this.#keeper.about(agent, check, subject);
  }

  /** `session`: the tmux session it is in at this moment. */
  authority(agent: string, session: string | null): Authority {
    const others = () =>
      this.#parts
        .views()
        .filter((view) => view.agent !== agent && view.reading.state !== 'ended')
        .flatMap(({ tmux }) => (tmux === null ? [] : [tmux.session]));
    const said = this.#overrides.get(agent) ?? null;
    return authorityNow(agent, { session, said, config: this.#parts.configFor(agent), others });
  }

  /** Whether it is stored. Less holds from the moment in which it is said, whatever the database does. */
  async setAuthority(agent: string, authority: Authority, by: Caller): Promise<boolean> {
    const set = () => {
      this.#overrides.set(agent, authority);
      this.#parts.lookSoon(agent);
    };
    const now = this.#parts.views().find((view) => view.agent === agent)?.authority ?? 'observe';
    if (rankOf(authority) <= rankOf(now)) set();
    return this.#actions.setAuthority(agent, authority, by, async () => {
      set();
      return (await this.#parts.store.saveAuthority(this.#parts.host, agent, authority)).ok;
    });
  }

  /** One round of the rules over all agents. */
  round(isLast = false): void {
    const views = this.#overlay();
    this.#readUp(this.#holds.round(views));
    const ours = views.filter(({ agent }) => !this.#isElsewhere(agent));
    this.#controlClients.round(ours);
    this.handoffs.round(ours);
    this.#keeper.round(views, [...this.#parts.loose(), ...this.#hostFindings.look(ours)], isLast);
    this.#progress.round(ours);
    this.#rows.catchUp();
  }

  #overlay(): AgentView[] {
    return this.#controlClients.overlay(this.handoffs.overlay(this.#parts.views()));
  }

  #signs(): HostSigns {
    const { servers, databaseAway, home } = this.#parts;
    const database = databaseAway() ?? this.#rows.away;
    const refusals = [database, this.#spool.failure].filter(saysFull);
    return { servers: servers(), database, disk: whyFull(home.dir) ?? refusals[0] ?? null };
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
      () => this.#keeper.restore(agents),
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

  /** Troubles that belong to no agent. */
  loose(): LooseFinding[] {
    return [...this.#parts.loose(), ...this.#hostFindings.loose()];
  }

  settled(): Promise<void> {
    return Promise.all([this.#keeper, this.#progress, this.handoffs].map((each) => each.settled())).then(() =>
      this.#rows.settled(),
    );
  }

  /** A person's prompt: now, also to a busy agent, and exempt from the rate limit. */
  async say(
    agent: string,
    said: PromptWords,
    by: Caller,
    { waitMs, anyway }: { waitMs: number; anyway: boolean },
  ): Promise<PromptResult | { problem: string }> {
    const request = { agent, waitMs, anyway, trigger: 'human', finding: null, by } as const;
    if (typeof said === 'string') return this.#actions.prompt({ ...request, text: said });
    const filled = fillTemplate(said.template, said.slots, this.#parts.config().templates);
    if (!filled.ok) return { problem: filled.reason };
    return this.#actions.prompt({ ...request, text: filled.text });
  }

  /** With what handoffs left behind, and what is set apart, and why. */
  views(): AgentView[] {
    return this.#keeper.overlay(this.#overlay());
  }

  compact(agent: string, by: Caller): Promise<CommandResult> {
    return this.#actions.compact(agent, by);
  }

  interrupt(agent: string, by: Caller, waitMs: number): Promise<CommandResult> {
    return this.#actions.interrupt(agent, { by, waitMs });
  }

  wouldInterrupt(agent: string): Promise<DryRun> {
    return this.#actions.wouldInterrupt(agent);
  }

  /** null: nothing open has this id. */
  async acknowledge(id: string, denied: boolean, by: Caller): Promise<Incident | null> {
    const incident = this.#keeper.incidents().find((open) => open.incident.id.startsWith(id))?.incident ?? null;
    if (incident === null) return null;
    await this.#actions.acknowledge(incident, denied, by, async () => {
      await this.#keeper.acknowledge(incident.id, denied);
      if (incident.check === 'handoff-failed' && incident.subject !== null)
        this.handoffs.acknowledged(incident.subject);
      return true;
    });
    return incident;
  }

  /** What waits for a human, and nobody has acknowledged. */
  inbox(): InboxItem[] {
    const views = this.views();
    return this.#keeper
      .incidents()
      .filter(({ incident, step }) => incident.ackedMs === null && (incident.tells > 0 || step.do === 'tell'))
      .map(({ incident }) => inboxItem(incident, views.find((view) => view.agent === incident.agent) ?? null));
  }

  get channels(): ChannelHealth[] {
    return this.#actions.deeds.notify.channels;
  }

  get reactions(): { total: number; inTime: number } {
    return this.#actions.deeds.prompt.answers.reactions;
  }

  /** Why an agent is seen and treated as it is. */
  why(name: string) {
    const view = this.views().find((candidate) => candidate.agent === name);
    if (view === undefined) return null;
    const handoff = this.handoffs.next(name);
    const mine = this.#keeper.incidents().filter(({ incident }) => incident.agent === name);
    const { state, detail, source, confidence, sinceMs, seenAtMs } = view.reading;
    const evidence = [
      {
        source,
        at: time(sinceMs),
        text: `${detail === null ? state : `${state}/${detail}`}, confidence ${confidence}, read ${time(seenAtMs)}`,
      },
      ...view.findings.flatMap((finding) =>
        finding.evidence.map(({ source: by, atMs, text }) => ({ source: by, at: time(atMs), text })),
      ),
    ];
    return {
      agent: name,
      state: detail === null ? state : `${state}/${detail}`,
      authority: view.authority,
      evidence,
      fired: mine.map(({ incident }) => ({
        id: incident.id,
        check: incident.check,
        subject: incident.subject,
        since: time(incident.openedMs),
        prompts: incident.prompts,
        told: incident.tells,
        acked: incident.ackedMs === null ? null : time(incident.ackedMs),
      })),
      not_fired: this.#parts.fine(name),
      hold: this.holdOn(name),
      next: [...(handoff === null ? [] : [{ at: null, what: handoff }]), ...mine.map(nextDocument)],
    };
  }
}

function nextDocument({ incident, step, retry }: OpenIncident): { at: string | null; what: string } {
  const check = incident.subject === null ? incident.check : `${incident.check} ${shown(incident.subject, 100)}`;
  if (step.do !== 'wait' && retry !== null) {
    const why = retry.refusal === null ? 'the last message did not get through' : `refused (${retry.refusal})`;
    return { at: time(retry.atMs), what: `wait: ${why} (${check})` };
  }
  if (step.do === 'prompt') return { at: null, what: `prompt it (${check})` };
  if (step.do === 'tell') return { at: null, what: `tell a human (${check})` };
  return { at: step.untilMs === null ? null : time(step.untilMs), what: `wait: ${waitWords(step.reason)} (${check})` };
}

function inboxItem(incident: Incident, view: AgentView | null) {
  const message = messageFor(incident, view);
  return {
    id: incident.id,
    agent: incident.agent,
    kind: incident.check,
    severity: incident.severity,
    subject: incident.subject,
    since: time(incident.openedMs),
    text: `${message.title}: ${message.text}`,
    answer_with: message.whatToDo,
  };
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
