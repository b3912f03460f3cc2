import { randomUUID } from 'node:crypto';
import { whyNotAllowed } from '../decide/gate.ts';
import { isOver, nextStep, type PromptTemplate, promptsSpent, type Step } from '../decide/policy.ts';
import { fillTemplate, type SlotValues } from '../decide/templates.ts';
import { isShared } from '../detect/mass-failure.ts';
import type { Refusal } from '../model/action.ts';
import type { AgentView, CheckName, Finding } from '../model/agent.ts';
import type { Incident } from '../model/incident.ts';
import type { Score } from '../model/score.ts';
import type { CheckRow, Store } from '../model/store.ts';
import type { Clock } from '../model/world.ts';
import type { Config } from './config/schema.ts';
import {
  asShown,
  fresh,
  isHeldBack,
  key,
  later,
  moveTimes,
  notePrompt,
  type Open,
  type OpenIncident,
  ownSlots,
  retryFirstMs,
  whyNotNow,
} from './open-incident.ts';
import type { Prompter } from './prompter.ts';
import { Quarantine } from './quarantine.ts';
import type { Scores } from './scores.ts';
import type { LooseFinding } from './spawns.ts';
import type { Teller } from './teller.ts';

interface KeeperParts {
  host: string;
  store: Store;
  clock: Clock;
  config: () => Config;
  paused: () => boolean;
  views: () => AgentView[];
  prompter: Prompter;
  teller: Teller;
  /** The trouble of the host that the agent's is part of; null: none. */
  isOneOfMany: (agent: string, check: CheckName) => string | null;
  /** A handoff runs: nothing else is said to the agent. */
  isHandedOver: (agent: string) => boolean;
  scores: Scores;
  /** A check's verdict changed. */
  recordCheck: (row: CheckRow) => void;
  /** The agent's row has to be there first. */
  flush: () => Promise<boolean>;
  failed: (error: unknown) => void;
}

/** How long a trouble waits for company at most. */
const othersMs = 5_000;
/** What an earlier run left open is not over because the agents' records have yet to be read. */
const readUpMs = 10_000;

/** Keeps the incidents: opens them on findings, does the policy's next step, and closes them. Level-triggered. */
export class Keeper {
  readonly #parts: KeeperParts;
  readonly #open = new Map<string, Open>();
  /** Ids given to findings whose incident is opened in the next round. */
  readonly #ids = new Map<string, string>();
  readonly #lastPrompt = { agent: new Map<string, number>(), project: new Map<string, number>() };
  readonly #running = new Set<Promise<void>>();
  readonly #quarantine = new Quarantine((agent, check, subject) => this.idFor(agent, check, subject));
  #sinceMs = 0;
  #agents = 0;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
  }

  async restore(): Promise<boolean> {
    const { store, host, clock } = this.#parts;
    this.#sinceMs = clock.nowMs();
    const open = await store.openIncidents(host);
    const scores = await store.recentScores(host, this.#sinceMs - Quarantine.memoryMs);
    if (!open.ok || !scores.ok) return false;
    this.#quarantine.restore(scores.value, open.value, this.#sinceMs);
    for (const incident of open.value) {
      this.#open.set(key(incident.agent, incident.check, incident.subject), { ...fresh(incident), isRestored: true });
      if (incident.lastPromptMs !== null && incident.agent !== null)
        notePrompt(this.#lastPrompt.agent, incident.agent, incident.lastPromptMs);
    }
    return true;
  }

  /** The wall clock was set, or the machine slept. */
  clockSet(byMs: number, nowMs: number): void {
    this.#sinceMs += byMs;
    moveTimes(this.#open.values(), this.#lastPrompt, byMs, nowMs);
    this.#quarantine.clockSet(byMs);
    for (const { incident } of this.#open.values()) this.#save(incident);
  }

  /** The same while the trouble lasts. */
  idFor(agent: string | null, check: CheckName, subject: string | null): string {
    const name = key(agent, check, subject);
    const id = this.#open.get(name)?.incident.id ?? this.#ids.get(name) ?? randomUUID();
    this.#ids.set(name, id);
    return id;
  }

  /** The views with what is set apart, and why. */
  overlay(views: AgentView[]): AgentView[] {
    return this.#quarantine.overlay(views);
  }

  /**
   * `seen`, `seenLoose`: what was found, at the agents and elsewhere. `isLast`: of a single run, in which everything was
   * looked at as often as it needs.
   */
  round(seen: AgentView[], seenLoose: LooseFinding[], isLast = false): void {
    const nowMs = this.#parts.clock.nowMs();
    this.#quarantine.look(seen, seenLoose, nowMs);
    const views = this.#quarantine.overlay(seen);
    const loose = this.#quarantine.overlayLoose(seenLoose);
    this.#agents = views.length;
    const found = new Map<string, Finding>();
    const see = (agent: string | null, project: string, finding: Finding) => {
      found.set(key(agent, finding.check, finding.subject), finding);
      this.#see(agent, project, finding, nowMs);
    };
    for (const view of views) for (const finding of view.findings) see(view.agent, view.project, finding);
    for (const { project, finding } of loose) see(null, project, finding);
    for (const [name, open] of this.#open) {
      const view = views.find((candidate) => candidate.agent === open.incident.agent) ?? null;
      const finding = found.get(name) ?? null;
      const isEnded = isOver(open.incident, view, finding !== null) && !this.#mayReturn(open, nowMs);
      if (isEnded && (isLast || this.#isLookedAt(open, view, nowMs))) this.#close(name, open, view, nowMs);
      else if ((view !== null || open.incident.agent === null) && !open.busy) this.#advance(open, view, finding, nowMs);
    }
    this.#parts.scores.forgetOthers(new Set(views.map((view) => view.agent)));
    for (const name of this.#ids.keys()) if (!this.#open.has(name) && !found.has(name)) this.#ids.delete(name);
  }

  /** The open incident about it; null: there is none. */
  about(agent: string | null, check: CheckName, subject: string | null): Incident | null {
    return this.#open.get(key(agent, check, subject))?.incident ?? null;
  }

  /** When a rule last prompted this agent. */
  lastPrompt(agent: string): number | null {
    return this.#lastPrompt.agent.get(agent) ?? null;
  }

  notePrompt(view: AgentView, atMs: number): void {
    notePrompt(this.#lastPrompt.agent, view.agent, atMs);
    notePrompt(this.#lastPrompt.project, view.project, atMs);
  }

  /** Until everything begun is done: for a single round. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  incidents(): OpenIncident[] {
    const nowMs = this.#parts.clock.nowMs();
    return [...this.#open.values()].map((open) => asShown(open, nowMs));
  }

  /** `denied`: the person says that there is no such trouble. null: there is none open, or it could not be noted. */
  async acknowledge(id: string, denied: boolean): Promise<Incident | null> {
    const open = [...this.#open.values()].find(({ incident }) => incident.id === id || incident.id.startsWith(id));
    if (open === undefined) return null;
    open.incident.ackedMs = this.#parts.clock.nowMs();
    if (denied) this.#score(open, null, open.incident.ackedMs, true);
    return (await this.#parts.store.saveIncident(this.#parts.host, open.incident)).ok ? open.incident : null;
  }

  /** Agents that are being tried again are out of the trouble for a moment: it is still the same one. */
  #mayReturn({ incident, seenMs }: Open, nowMs: number): boolean {
    return incident.check === 'mass-failure' && nowMs - seenMs < this.#parts.config().judging.massMinutes * 60_000;
  }

  /** An incident of an earlier run is judged only once its agent was looked at in this one. */
  #isLookedAt({ incident, isRestored }: Open, view: AgentView | null, nowMs: number): boolean {
    if (!isRestored) return true;
    const isReadUp = nowMs - this.#sinceMs >= readUpMs;
    if (view === null) return incident.agent !== null || isReadUp;
    return isReadUp && view.reading.seenAtMs >= this.#sinceMs;
  }

  #see(agent: string | null, project: string, finding: Finding, nowMs: number): void {
    const { check, subject } = finding;
    const text = finding.evidence[0]?.text ?? check;
    const known = this.#open.get(key(agent, check, subject));
    if (known !== undefined) {
      known.incident.text = text;
      if (finding.standing === 'seen') {
        known.seenMs = nowMs;
        known.isRestored = false;
      }
      return;
    }
    if (finding.standing === 'quarantined') return;
    const incident: Incident = {
      id: finding.id,
      agent,
      project,
      check,
      subject,
      severity: finding.severity,
      text,
      openedMs: nowMs,
      closedMs: null,
      ackedMs: null,
      prompts: 0,
      lastPromptMs: null,
      tells: 0,
      lastTellMs: null,
    };
    const open = fresh(incident);
    this.#open.set(key(agent, check, subject), open);
    this.#save(incident);
    // How this ended is known from the first moment.
    if (check === 'ended-unexpectedly') this.#score(open, null, nowMs, false);
    if (check === 'flapping') this.#recordFlapping(incident, nowMs);
  }

  #close(name: string, open: Open, view: AgentView | null, nowMs: number): void {
    this.#open.delete(name);
    this.#ids.delete(name);
    open.incident.closedMs = nowMs;
    this.#save(open.incident);
    this.#score(open, view, open.seenMs, false);
    if (open.incident.check === 'flapping') this.#recordFlapping(open.incident, nowMs);
    // A prompt that waited for its moment is no longer true: dropped, and on record as that.
    if (open.step.do === 'wait' && open.step.for === 'prompt') this.#track(this.#drop(open.incident, nowMs, 'stale'));
  }

  #advance(open: Open, view: AgentView | null, finding: Finding | null, nowMs: number): void {
    const { prompt, waiting } = this.#parts.config();
    open.step = nextStep(open.incident, view, {
      nowMs,
      isFound: finding !== null,
      minIntervalMs: prompt.minIntervalMinutes * 60_000,
      repeatMs: waiting.repeatMinutes * 60_000,
      lastAgentPromptMs: this.#lastPrompt.agent.get(view?.agent ?? '') ?? null,
      lastProjectPromptMs: this.#lastPrompt.project.get(view?.project ?? '') ?? null,
    });
    if (view !== null && isHeldBack(open) && this.#parts.isHandedOver(view.agent))
      open.step = { do: 'wait', for: null, reason: 'a handoff runs', untilMs: null };
    if (open.step.do !== 'wait' && finding?.standing !== 'seen')
      open.step = { do: 'wait', for: open.step.do, reason: whyNotNow(finding), untilMs: null };
    if (open.step.do === 'tell') open.step = this.#alone(open.incident, nowMs) ?? open.step;
    if (open.step.do === 'wait' || nowMs < open.retryAtMs) return;
    if (open.step.do === 'prompt' && view !== null) {
      notePrompt(this.#lastPrompt.project, view.project, nowMs);
      const slots = finding?.slots ?? ownSlots(open.step.template, open.incident, view, nowMs);
      this.#begin(open, this.#promptAbout(open, view, open.step.template, slots, nowMs));
    } else if (this.#mayTell(open)) this.#begin(open, this.#tellAbout(open, view));
  }

  /** Many agents in one trouble are told as one; so each waits a moment for the others. */
  #alone({ agent, check, openedMs, tells }: Incident, nowMs: number): Step | null {
    if (agent === null || !isShared(check)) return null;
    const { tickSeconds, judging } = this.#parts.config();
    const many = this.#parts.isOneOfMany(agent, check);
    if (many !== null) {
      const mass = this.about(null, 'mass-failure', many);
      // Told long before this one came: these are others, and the host is told anew.
      if (mass?.lastTellMs && tells === 0 && openedMs - mass.lastTellMs > judging.massMinutes * 60_000) {
        mass.lastTellMs = null;
        mass.ackedMs = null;
      }
      return { do: 'wait', for: null, reason: 'it is told as one of many', untilMs: null };
    }
    const waitMs = Math.min(othersMs, tickSeconds * 2_000);
    const untilMs = openedMs + waitMs;
    // Whatever there is at the beginning is found at once; and it takes some to be many.
    const mayCome = nowMs - this.#sinceMs > readUpMs && this.#agents >= judging.massCount;
    return mayCome && tells === 0 && nowMs < untilMs
      ? { do: 'wait', for: 'tell', reason: 'others may be in the same trouble', untilMs }
      : null;
  }

  #begin(open: Open, work: Promise<void>): void {
    open.busy = true;
    const done = () => {
      open.busy = false;
    };
    this.#track(work.finally(done));
  }

  async #promptAbout(
    open: Open,
    view: AgentView,
    template: PromptTemplate,
    slots: SlotValues,
    nowMs: number,
  ): Promise<void> {
    const { incident } = open;
    const filled = fillTemplate(template, slots, this.#parts.config().templates);
    // Evidence that cannot be said safely is not said: a human is told instead.
    if (!filled.ok) {
      await this.#drop(incident, nowMs, 'unsafe-text');
      incident.prompts = promptsSpent;
      return;
    }
    const result = await this.#parts.prompter.prompt({
      agent: view.agent,
      text: filled.text,
      trigger: `rule:${incident.check}`,
      finding: incident.id,
      waitMs: 0,
      quietAbout: open.lastRefusal,
      isStillDue: () => this.#isFound(incident),
    });
    if (result.outcome === 'refused') {
      open.lastRefusal = result.reason;
      later(open, this.#parts.clock.nowMs());
      return;
    }
    open.lastRefusal = null;
    incident.prompts += 1;
    incident.lastPromptMs = this.#parts.clock.nowMs();
    notePrompt(this.#lastPrompt.agent, view.agent, incident.lastPromptMs);
    open.retryWaitMs = retryFirstMs;
    this.#save(incident);
    await this.#parts.store.noteAction(incident.id, incident.subject === null ? 'prompted agent' : 'prompted parent');
  }

  /** In the views as they are now, which are newer than the round that decided. */
  #isFound({ agent, check, subject }: Incident): boolean {
    const view = this.#parts.views().find((candidate) => candidate.agent === agent);
    const mine = view?.findings.find((finding) => finding.check === check && finding.subject === subject);
    return mine?.standing === 'seen';
  }

  async #tellAbout(open: Open, view: AgentView | null): Promise<void> {
    if (!(await this.#parts.teller.tell(open.incident, view))) {
      later(open, this.#parts.clock.nowMs());
      return;
    }
    open.incident.tells += 1;
    open.incident.lastTellMs = this.#parts.clock.nowMs();
    open.retryWaitMs = retryFirstMs;
    this.#save(open.incident);
    if (open.incident.tells === 1) await this.#parts.store.noteAction(open.incident.id, 'told human');
  }

  /** Telling needs no authority over the agent, but a pause and the watch mode hold it back as everything else. */
  #mayTell(open: Open): boolean {
    const facts = { mode: this.#parts.config().mode, paused: this.#parts.paused(), authority: 'observe' as const };
    const why = whyNotAllowed('observe', facts);
    if (why !== null) open.step = { do: 'wait', for: 'tell', reason: why, untilMs: null };
    return why === null;
  }

  async #drop(incident: Incident, nowMs: number, reason: Refusal): Promise<void> {
    const { store, host } = this.#parts;
    const id = randomUUID();
    const intent = { check: incident.check, text: incident.text };
    const trigger = `rule:${incident.check}` as const;
    await this.#parts.flush();
    const { agent, id: finding } = incident;
    await store.intend(host, { id, atMs: nowMs, agent, kind: 'prompt', trigger, intent, finding });
    await store.conclude({ actionId: id, atMs: nowMs, outcome: 'refused', reason, proof: null });
  }

  #track(work: Promise<void>): void {
    const tracked = work.catch(this.#parts.failed).finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }

  /** `endedMs`: when it was last seen. */
  #score({ incident }: Open, view: AgentView | null, endedMs: number, denied: boolean): void {
    const score = this.#parts.scores.score(incident, view, endedMs, denied);
    if (incident.closedMs !== null) this.#quarantine.ended(incident, score, incident.closedMs);
    this.#track(this.#storeScore(score));
  }

  async #storeScore(score: Score): Promise<void> {
    const saved = await this.#parts.store.saveScore(this.#parts.host, score);
    if (!saved.ok) throw new Error(`a score was not stored: ${saved.message}`);
  }

  #recordFlapping({ agent, project, id, subject, closedMs }: Incident, atMs: number): void {
    const details = { finding: id, subject };
    const status = closedMs === null ? 'warning' : 'ok';
    this.#parts.recordCheck({ agent, project, atMs, type: 'flapping', status, details });
  }

  #save(incident: Incident): void {
    this.#track(this.#store({ ...incident }));
  }

  async #store(incident: Incident): Promise<void> {
    await this.#parts.flush();
    const saved = await this.#parts.store.saveIncident(this.#parts.host, incident);
    if (!saved.ok) throw new Error(`an incident was not stored: ${saved.message}`);
  }
}
