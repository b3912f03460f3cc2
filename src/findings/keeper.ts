import { randomUUID } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import { whyNotAllowed } from '../decide/gate.ts';
import { isOver, isToldInstead, nextStep, type Step } from '../decide/policy.ts';
import { saidTogether } from '../decide/together.ts';
import { isShared } from '../detect/mass-failure.ts';
import type { AgentView, Finding } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import type { HoldStanding } from '../model/hold.ts';
import type { Incident } from '../model/incident.ts';
import type { Score } from '../model/score.ts';
import type { CheckRow, Store } from '../model/store.ts';
import type { Clock } from '../model/world.ts';
import type { LooseFinding } from '../spawns/spawns.ts';
import {
  asShown,
  countDeeds,
  fresh,
  isHeldBack,
  key,
  later,
  moveTimes,
  type Open,
  type OpenIncident,
  retryFirstMs,
  whyNotNow,
} from './open-incident.ts';
import { Quarantine } from './quarantine.ts';
import { type Due, type RuleActions, RulePrompts } from './rule-prompts.ts';
import type { Scores } from './scores.ts';
import type { Spoken } from './spoken.ts';

interface KeeperParts {
  host: string;
  store: Store;
  clock: Clock;
  config: () => Config;
  paused: () => boolean;
  views: () => AgentView[];
  actions: RuleActions;
  spoken: Spoken;
  /** The trouble of the host that the agent's is part of; null: none. */
  isOneOfMany: (agent: string, check: CheckName) => string | null;
  /** A handoff runs: nothing else is said to the agent. */
  isHandedOver: (agent: string) => boolean;
  /** Another daemon has it: what is open about it is that one's. */
  isElsewhere: (agent: string | null) => boolean;
  hold: (view: AgentView) => HoldStanding;
  /** Its own record has been read to the end: only then is it known how its work stands. */
  isReadUp: (agent: string) => boolean;
  scores: Scores;
  /** A check's verdict changed. */
  recordCheck: (row: CheckRow) => void;
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
  readonly #prompts: RulePrompts;
  readonly #running = new Set<Promise<void>>();
  readonly #quarantine = new Quarantine((agent, check, subject) => this.idFor(agent, check, subject));
  #sinceMs = 0;
  #agents = 0;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#prompts = new RulePrompts({ ...parts, save: (open) => this.#save(open) });
  }

  /** `only`: those agents' incidents anew, as whoever had the agents until now left them. */
  async restore(only: ReadonlySet<string> | null = null): Promise<boolean> {
    const { store, host, clock } = this.#parts;
    if (only === null) this.#sinceMs = clock.nowMs();
    const open = await store.openIncidents(host);
    const scores = await store.recentScores(host, this.#sinceMs - Quarantine.memoryMs);
    if (!open.ok || !scores.ok) return false;
    const taken = open.value.filter(({ agent }) => only === null || only.has(agent ?? ''));
    const deeds = await store.deedsAbout(taken.map(({ id }) => id));
    if (!deeds.ok) return false;
    if (only === null) this.#quarantine.restore(scores.value, open.value, this.#sinceMs);
    for (const [name, { incident }] of this.#open) if (only?.has(incident.agent ?? '')) this.#open.delete(name);
    for (const incident of taken) {
      countDeeds(incident, deeds.value.get(incident.id), clock.nowMs());
      this.#open.set(key(incident.agent, incident.check, incident.subject), { ...fresh(incident), isRestored: true });
    }
    return true;
  }

  /** The wall clock was set, or the machine slept. */
  clockSet(byMs: number, nowMs: number): void {
    this.#sinceMs += byMs;
    moveTimes(this.#open.values(), byMs, nowMs);
    this.#parts.spoken.clockSet(byMs, nowMs);
    this.#quarantine.clockSet(byMs);
    for (const open of this.#open.values()) this.#save(open);
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
      if (!this.#parts.isElsewhere(agent)) this.#see(agent, project, finding, nowMs);
    };
    for (const view of views) for (const finding of view.findings) see(view.agent, view.project, finding);
    for (const { project, finding } of loose) see(null, project, finding);
    const due = new Map<AgentView, Due[]>();
    for (const [name, open] of this.#open) {
      if (this.#parts.isElsewhere(open.incident.agent)) {
        open.step = { do: 'wait', for: null, reason: 'held-elsewhere', untilMs: null };
        continue;
      }
      const view = views.find((candidate) => candidate.agent === open.incident.agent) ?? null;
      const finding = found.get(name) ?? null;
      const isEnded = isOver(open.incident, view, finding !== null) && !this.#mayReturn(open, nowMs);
      if (isEnded && (isLast || this.#isLookedAt(open, view, nowMs))) this.#close(name, open, view, nowMs);
      else if ((view !== null || open.incident.agent === null) && !open.busy) {
        const said = this.#advance(open, view, finding, nowMs);
        if (said !== null && view !== null) due.set(view, [...(due.get(view) ?? []), said]);
      }
    }
    for (const [view, each] of due) this.#prompt(view, each, nowMs);
    this.#parts.scores.forgetOthers(new Set(views.map((view) => view.agent)));
    for (const name of this.#ids.keys()) if (!this.#open.has(name) && !found.has(name)) this.#ids.delete(name);
  }

  /** The open incident about it; null: there is none. */
  about(agent: string | null, check: CheckName, subject: string | null): Incident | null {
    return this.#open.get(key(agent, check, subject))?.incident ?? null;
  }

  /** Until everything begun is done: for a single round. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  incidents(): OpenIncident[] {
    const nowMs = this.#parts.clock.nowMs();
    return [...this.#open.values()].map((open) => asShown(open, nowMs));
  }

  /** `denied`: the person says that there is no such trouble. null: there is none open. */
  async acknowledge(id: string, denied: boolean): Promise<Incident | null> {
    const open = [...this.#open.values()].find(({ incident }) => incident.id === id || incident.id.startsWith(id));
    if (open === undefined) return null;
    open.incident.ackedMs = this.#parts.clock.nowMs();
    if (denied) this.#score(open, null, open.incident.ackedMs, true);
    this.#save(open);
    // Noted also where its row still waits for the database.
    await open.saved;
    return open.incident;
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
    this.#save(open);
    // How this ended is known from the first moment.
    if (check === 'ended-unexpectedly') this.#score(open, null, nowMs, false);
    if (check === 'flapping') this.#recordFlapping(incident, nowMs);
  }

  #close(name: string, open: Open, view: AgentView | null, nowMs: number): void {
    this.#open.delete(name);
    this.#ids.delete(name);
    open.incident.closedMs = nowMs;
    this.#save(open);
    this.#score(open, view, open.seenMs, false);
    if (open.incident.check === 'flapping') this.#recordFlapping(open.incident, nowMs);
    // A prompt that waited for its moment is no longer true: dropped, and on record as that.
    if (open.step.do === 'wait' && open.step.for === 'prompt') this.#track(this.#prompts.drop(open.incident, 'stale'));
  }

  /** Tells what is to be told; what is to be said to its agent is handed back. */
  #advance(open: Open, view: AgentView | null, finding: Finding | null, nowMs: number): Due | null {
    open.step = this.#decide(open, view, finding, nowMs);
    const { step, incident } = open;
    if (step.do === 'prompt') return { incident, open, finding, template: step.template };
    if (step.do === 'tell' && nowMs >= open.retryAtMs && this.#mayTell(open, view))
      this.#begin([open], this.#tellAbout(open, view));
    else if (this.#wantsProof(open, nowMs)) this.#begin([open], this.#askForProof(open, nowMs));
    return null;
  }

  /** Its proof may come late; what was typed by a run that was killed has its outcome a while after the next start. */
  #wantsProof({ incident, proof }: Open, nowMs: number): boolean {
    if (!isToldInstead(incident) || proof.is === 'proved' || incident.lastTellMs !== null) return false;
    const pauseMs = this.#parts.config().prompt.minIntervalMinutes * 60_000;
    return nowMs - Math.max(incident.lastPromptMs ?? 0, proof.askedMs) >= pauseMs;
  }

  async #askForProof(open: Open, nowMs: number): Promise<void> {
    open.proof.askedMs = nowMs;
    const deeds = await this.#parts.store.deedsAbout([open.incident.id]);
    if (deeds.ok) open.proof.is = deeds.value.get(open.incident.id)?.isProved === true ? 'proved' : 'unproved';
  }

  #decide(open: Open, view: AgentView | null, finding: Finding | null, nowMs: number): Step {
    const { incident } = open;
    const { prompt, waiting, health } = this.#parts.config();
    const { spoken } = this.#parts;
    const step = nextStep(incident, view, {
      nowMs,
      isFound: finding !== null,
      minIntervalMs: prompt.minIntervalMinutes * 60_000,
      repeatMs: waiting.repeatMinutes * 60_000,
      rateLimitBackoffMs: health.rate_limit_backoff_seconds * 1_000,
      lastAgentPromptMs: view === null ? null : spoken.lastTo(view.agent),
      lastProjectPromptMs: view === null ? null : spoken.lastBeside(view),
      isUnproved: open.proof.is === 'unproved',
    });
    if (view !== null && isHeldBack(step, incident) && this.#parts.isHandedOver(view.agent))
      return { do: 'wait', for: null, reason: 'handoff-runs', untilMs: null };
    if (step.do === 'prompt' && view !== null && !this.#parts.isReadUp(view.agent))
      return { do: 'wait', for: 'prompt', reason: 'record-is-read', untilMs: null };
    if (step.do !== 'wait' && finding?.standing !== 'seen')
      return { do: 'wait', for: step.do, reason: whyNotNow(finding), untilMs: null };
    return step.do === 'tell' ? (this.#alone(incident, nowMs) ?? step) : step;
  }

  /** One prompt at a time for each agent, about all that may be said now. */
  #prompt(view: AgentView, due: Due[], nowMs: number): void {
    const { spoken } = this.#parts;
    const isBusy = spoken.isSpeakingTo(view.agent);
    const said = isBusy ? [] : saidTogether(due, view);
    const reason = isBusy ? 'being-prompted' : 'work-goes-first';
    for (const one of due)
      if (!said.includes(one)) one.open.step = { do: 'wait', for: 'prompt', reason, untilMs: null };
    const [lead] = said;
    if (lead === undefined || nowMs < lead.open.retryAtMs) return;
    const decide = ({ open, finding }: Due) => this.#decide(open, view, finding, this.#parts.clock.nowMs());
    const opens = said.map(({ open }) => open);
    this.#begin(
      opens,
      spoken.speak(view, () => this.#prompts.say(view, said, decide)),
    );
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
      return { do: 'wait', for: null, reason: 'told-as-one-of-many', untilMs: null };
    }
    const waitMs = Math.min(othersMs, tickSeconds * 2_000);
    const untilMs = openedMs + waitMs;
    // Whatever there is at the beginning is found at once; and it takes some to be many.
    const mayCome = nowMs - this.#sinceMs > readUpMs && this.#agents >= judging.massCount;
    return mayCome && tells === 0 && nowMs < untilMs
      ? { do: 'wait', for: 'tell', reason: 'others-may-follow', untilMs }
      : null;
  }

  #begin(opens: Open[], work: Promise<void>): void {
    for (const open of opens) open.busy = true;
    const done = () => {
      for (const open of opens) open.busy = false;
    };
    this.#track(work.finally(done));
  }

  async #tellAbout(open: Open, view: AgentView | null): Promise<void> {
    // Its row first, if there can be one: after a crash it would be another trouble and be told at once.
    await open.saved;
    if (!(await this.#parts.actions.tell(open.incident, view))) {
      later(open, this.#parts.clock.nowMs());
      return;
    }
    open.incident.tells += 1;
    open.incident.lastTellMs = this.#parts.clock.nowMs();
    open.retryWaitMs = retryFirstMs;
    this.#save(open);
    if (open.incident.tells === 1) await this.#parts.store.noteAction(open.incident.id, 'told human');
  }

  /** Telling needs no authority over the agent, but a pause and the watch mode hold it back as everything else. */
  #mayTell(open: Open, view: AgentView | null): boolean {
    const { config, paused, hold } = this.#parts;
    const facts = { mode: config().mode, paused: paused(), authority: 'observe' as const };
    const why = whyNotAllowed('observe', { ...facts, hold: view === null ? 'none' : hold(view) });
    if (why !== null) open.step = { do: 'wait', for: 'tell', reason: why, untilMs: null };
    return why === null;
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

  /** One after the other: an older word on it never comes after a newer one. */
  #save(open: Open): void {
    const incident = { ...open.incident };
    open.saved = open.saved.then(() => this.#store(incident));
    this.#track(open.saved.then(() => {}));
  }

  /** Whether it is on record; what waits for the database is written when it is back. */
  async #store(incident: Incident): Promise<boolean> {
    const saved = await this.#parts.store.saveIncident(this.#parts.host, incident);
    if (!saved.ok && saved.reason !== 'unavailable')
      this.#parts.failed(new Error(`an incident was not stored: ${saved.message}`));
    return saved.ok;
  }
}
