import { tmuxPane } from '../act/pane-terminal.ts';
import { messageFor } from '../decide/message.ts';
import type { RunningSpawns } from '../decide/progress.ts';
import { fillTemplate, type TemplateName } from '../decide/templates.ts';
import type { AgentView, Authority, CheckName } from '../model/agent.ts';
import type { Incident } from '../model/incident.ts';
import type { SessionEvent } from '../model/session-event.ts';
import type { SpawnStatus } from '../model/spawn.ts';
import type { CheckRow, Store } from '../model/store.ts';
import { shown } from '../model/text.ts';
import type { Clock, Files, Processes } from '../model/world.ts';
import { localGit } from '../sense/git.ts';
import type { HeardHook } from './agent-inbox.ts';
import { Commander, type CommandResult } from './commander.ts';
import { authorityFor } from './config/match.ts';
import type { Config } from './config/schema.ts';
import { Handoffs } from './handoff/handoffs.ts';
import type { HandoffNews } from './handoff/news.ts';
import type { Home } from './home.ts';
import { HostFindings } from './host-findings.ts';
import { Keeper, type OpenIncident } from './keeper.ts';
import { Progress } from './progress.ts';
import { Prompter, type PromptResult } from './prompter.ts';
import { readAll } from './read-all.ts';
import { Scores } from './scores.ts';
import type { LooseFinding } from './spawns.ts';
import { type ChannelHealth, Teller } from './teller.ts';
import { Typist } from './typist.ts';
import type { WatchedAgent } from './watched-agent.ts';

interface ActingParts {
  host: string;
  home: Home;
  store: Store;
  clock: Clock;
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
export type WhyDocument = NonNullable<ReturnType<Acting['why']>>;

/** Everything that acts, behind one door: rules, people and programs pass the same gate and leave the same record. */
export class Acting {
  readonly #parts: ActingParts;
  readonly #commander: Commander;
  readonly #prompter: Prompter;
  readonly #teller: Teller;
  readonly #keeper: Keeper;
  readonly #scores: Scores;
  readonly #progress: Progress;
  readonly #hostFindings: HostFindings;
  readonly handoffs: Handoffs;
  #overrides = new Map<string, Authority>();

  constructor(parts: ActingParts) {
    this.#parts = parts;
    const typist = new Typist({ ...parts, terminal: tmuxPane });
    this.#commander = new Commander({ ...parts, typist });
    this.#prompter = new Prompter({ ...parts, typist });
    this.#teller = new Teller(parts);
    const isHandedOver = (agent: string) => this.handoffs.running(agent) !== null;
    const promptedBy = (tag: string) => this.#prompter.promptedBy(tag);
    const interruptedByUs = (agent: string, atMs: number) => this.#commander.interrupted(agent, atMs);
    this.#scores = new Scores({ promptedBy, interruptedByUs, spawnStatus: parts.spawnStatus });
    this.#hostFindings = new HostFindings({ ...parts, idFor: (...about) => this.#keeper.idFor(...about) });
    this.#keeper = new Keeper({
      ...parts,
      prompter: this.#prompter,
      teller: this.#teller,
      scores: this.#scores,
      isHandedOver,
      isOneOfMany: (agent, check) => this.#hostFindings.covers(agent, check),
    });
    this.#progress = new Progress({ ...parts, isHandedOver, prompter: this.#prompter, keeper: this.#keeper });
    this.handoffs = new Handoffs({
      ...parts,
      uid: parts.processes.uid,
      git: localGit(),
      prompter: this.#prompter,
      commander: this.#commander,
      view: (name) => parts.views().find(({ agent }) => agent === name) ?? null,
      idFor: (agent, check, subject) => this.#keeper.idFor(agent, check, subject),
      isTold: (agent, handoff) => {
        const incident = this.#keeper.about(agent, 'handoff-failed', handoff);
        return incident !== null && (incident.tells > 0 || incident.ackedMs !== null);
      },
    });
  }

  /** What an earlier run left open. Before the first look at the agents, which may bring the proof of it. */
  restore(): Promise<boolean> {
    return readAll([
      () => this.#restoreAuthorities(),
      () => this.#keeper.restore(),
      () => this.handoffs.restore(),
      // Last: from here on the proof is waited for.
      () => this.#prompter.recover(),
    ]);
  }

  async #restoreAuthorities(): Promise<boolean> {
    const overrides = await this.#parts.store.loadAuthorities(this.#parts.host);
    if (overrides.ok) this.#overrides = overrides.value;
    return overrides.ok;
  }

  told(agent: string, event: SessionEvent): void {
    // First who did it: once a prompt is answered nobody knows any more.
    this.#scores.told(agent, event);
    this.#prompter.told(agent, event);
    this.#commander.told(agent, event);
    this.handoffs.told(agent, event);
  }

  hooked(agent: string, hook: HeardHook): void {
    this.#prompter.hooked(agent, hook);
  }

  unansweredSince(agent: string): number | null {
    return this.#prompter.unansweredSince(agent);
  }

  idFor(agent: string | null, check: CheckName, subject: string | null): string {
    return this.#keeper.idFor(agent, check, subject);
  }

  /** The open incident about it; null: there is none. */
  about(agent: string | null, check: CheckName, subject: string | null): Incident | null {
    return this.#keeper.about(agent, check, subject);
  }

  /** A person's word counts more than the rules; without a pane nothing can be done to an agent. */
  authority(agent: string, inTmux: boolean): Authority {
    if (!inTmux) return 'observe';
    return (
      this.#overrides.get(agent) ?? authorityFor(this.#parts.configFor(agent), agent, { launchedByUs: false, inTmux })
    );
  }

  async setAuthority(agent: string, authority: Authority): Promise<boolean> {
    this.#overrides.set(agent, authority);
    this.#parts.lookSoon(agent);
    return (await this.#parts.store.saveAuthority(this.#parts.host, agent, authority)).ok;
  }

  /** One round of the rules over all agents. */
  round(isLast = false): void {
    const views = this.handoffs.overlay(this.#parts.views());
    this.handoffs.round(views);
    this.#keeper.round(views, [...this.#parts.loose(), ...this.#hostFindings.look(views)], isLast);
    this.#progress.round(views);
  }

  /** Troubles that belong to no agent. */
  loose(): LooseFinding[] {
    return [...this.#parts.loose(), ...this.#hostFindings.loose()];
  }

  settled(): Promise<void> {
    return Promise.all([this.#keeper, this.#progress, this.handoffs].map((each) => each.settled())).then(() => {});
  }

  /** A person's prompt: now, also to a busy agent, and exempt from the rate limit. */
  async say(agent: string, said: PromptWords, waitMs: number): Promise<PromptResult | { problem: string }> {
    if (typeof said === 'string')
      return this.#prompter.prompt({ agent, text: said, waitMs, trigger: 'human', finding: null });
    const filled = fillTemplate(said.template, said.slots, this.#parts.config().templates);
    if (!filled.ok) return { problem: filled.reason };
    return this.#prompter.prompt({ agent, text: filled.text, waitMs, trigger: 'human', finding: null });
  }

  /** With what handoffs left behind, and what is set apart, and why. */
  views(): AgentView[] {
    return this.#keeper.overlay(this.handoffs.overlay(this.#parts.views()));
  }

  compact(agent: string): Promise<CommandResult> {
    return this.#commander.compact(agent);
  }

  async acknowledge(id: string, denied: boolean): Promise<boolean> {
    const incident = await this.#keeper.acknowledge(id, denied);
    if (incident?.check === 'handoff-failed' && incident.subject !== null) this.handoffs.acknowledged(incident.subject);
    return incident !== null;
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
    return this.#teller.channels;
  }

  get reactions(): { total: number; inTime: number } {
    return this.#prompter.reactions;
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
  return { at: step.untilMs === null ? null : time(step.untilMs), what: `wait: ${step.reason} (${check})` };
}

function inboxItem(incident: Incident, view: AgentView | null) {
  const message = messageFor(incident, view);
  return {
    id: incident.id,
    agent: incident.agent,
    kind: incident.check,
    subject: incident.subject,
    since: time(incident.openedMs),
    text: `${message.title}: ${message.text}`,
    answer_with: message.whatToDo,
  };
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
