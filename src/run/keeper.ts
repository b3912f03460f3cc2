import { randomUUID } from 'node:crypto';
import { whyNotAllowed } from '../decide/gate.ts';
import { isOver, nextStep, type Step } from '../decide/policy.ts';
import { fillTemplate } from '../decide/templates.ts';
import type { Refusal } from '../model/action.ts';
import type { AgentView, CheckName } from '../model/agent.ts';
import type { Incident } from '../model/incident.ts';
import type { Store } from '../model/store.ts';
import { shown } from '../model/text.ts';
import type { Clock } from '../model/world.ts';
import type { Config } from './config/schema.ts';
import type { Prompter } from './prompter.ts';
import type { Teller } from './teller.ts';

interface KeeperParts {
  host: string;
  store: Store;
  clock: Clock;
  config: () => Config;
  paused: () => boolean;
  prompter: Prompter;
  teller: Teller;
  /** The agent's row has to be there first. */
  flush: () => Promise<boolean>;
  failed: (error: unknown) => void;
}

/** What cannot be done now is tried again, at first soon and then less often. */
const retryMs = { first: 5_000, last: 60_000 };

/** As many as no ladder has: the next step is a human. */
const promptsSpent = 1_000;

interface Open {
  incident: Incident;
  step: Step;
  /** Something is being done about it at this moment. */
  busy: boolean;
  retryAtMs: number;
  retryWaitMs: number;
  /** A refusal is on record once, not at every tick. */
  lastRefusal: string | null;
}

/** Keeps the incidents: opens them on findings, does the policy's next step, and closes them. Level-triggered. */
export class Keeper {
  readonly #parts: KeeperParts;
  readonly #open = new Map<string, Open>();
  /** Ids given to findings whose incident is opened in the next round. */
  readonly #ids = new Map<string, string>();
  readonly #lastPrompt = { agent: new Map<string, number>(), project: new Map<string, number>() };
  readonly #running = new Set<Promise<void>>();

  constructor(parts: KeeperParts) {
    this.#parts = parts;
  }

  async restore(): Promise<void> {
    const open = await this.#parts.store.openIncidents(this.#parts.host);
    if (!open.ok) return;
    for (const incident of open.value) {
      this.#open.set(key(incident.agent, incident.check), fresh(incident));
      if (incident.lastPromptMs !== null) this.#lastPrompt.agent.set(incident.agent, incident.lastPromptMs);
    }
  }

  /** The same while the trouble lasts. */
  idFor(agent: string, check: CheckName): string {
    const name = key(agent, check);
    const id = this.#open.get(name)?.incident.id ?? this.#ids.get(name) ?? randomUUID();
    this.#ids.set(name, id);
    return id;
  }

  round(views: AgentView[]): void {
    const nowMs = this.#parts.clock.nowMs();
    for (const view of views) for (const finding of view.findings) this.#see(view, finding.check, nowMs);
    for (const [name, open] of this.#open) {
      const view = views.find((candidate) => candidate.agent === open.incident.agent) ?? null;
      const found = view?.findings.some((finding) => finding.check === open.incident.check) ?? false;
      if (isOver(open.incident, view, found)) this.#close(name, open, nowMs);
      else if (view !== null && !open.busy) this.#advance(open, view, nowMs);
    }
  }

  /** Until everything begun is done: for a single round. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  incidents(): { incident: Incident; step: Step }[] {
    return [...this.#open.values()].map(({ incident, step }) => ({ incident, step }));
  }

  async acknowledge(id: string): Promise<boolean> {
    const open = [...this.#open.values()].find(({ incident }) => incident.id === id || incident.id.startsWith(id));
    if (open === undefined) return false;
    open.incident.ackedMs = this.#parts.clock.nowMs();
    return (await this.#parts.store.saveIncident(this.#parts.host, open.incident)).ok;
  }

  #see(view: AgentView, check: CheckName, nowMs: number): void {
    const finding = view.findings.find((candidate) => candidate.check === check);
    if (finding === undefined) return;
    const text = finding.evidence[0]?.text ?? check;
    const known = this.#open.get(key(view.agent, check));
    if (known !== undefined) {
      known.incident.text = text;
      return;
    }
    const incident: Incident = {
      id: finding.id,
      agent: view.agent,
      check,
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
    this.#open.set(key(view.agent, check), fresh(incident));
    this.#save(incident);
  }

  #close(name: string, open: Open, nowMs: number): void {
    this.#open.delete(name);
    this.#ids.delete(name);
    open.incident.closedMs = nowMs;
    this.#save(open.incident);
    // A prompt that waited for its moment is no longer true: dropped, and on record as that.
    if (open.step.do === 'wait' && open.step.for === 'prompt') this.#track(this.#drop(open.incident, nowMs, 'stale'));
  }

  #advance(open: Open, view: AgentView, nowMs: number): void {
    const { prompt, waiting } = this.#parts.config();
    open.step = nextStep(open.incident, view, {
      nowMs,
      minIntervalMs: prompt.minIntervalMinutes * 60_000,
      repeatMs: waiting.repeatMinutes * 60_000,
      lastAgentPromptMs: this.#lastPrompt.agent.get(view.agent) ?? null,
      lastProjectPromptMs: this.#lastPrompt.project.get(view.project) ?? null,
    });
    if (open.step.do === 'wait' || nowMs < open.retryAtMs) return;
    if (open.step.do === 'prompt') {
      this.#lastPrompt.project.set(view.project, nowMs);
      this.#begin(open, this.#promptAbout(open, view, open.step.template, nowMs));
    } else if (this.#mayTell(open)) this.#begin(open, this.#tellAbout(open, view));
  }

  #begin(open: Open, work: Promise<void>): void {
    open.busy = true;
    const done = () => {
      open.busy = false;
    };
    this.#track(work.finally(done));
  }

  async #promptAbout(open: Open, view: AgentView, template: 'continue' | 'stalled', nowMs: number): Promise<void> {
    const { incident } = open;
    const minutes = String(Math.max(1, Math.round((nowMs - incident.openedMs) / 60_000)));
    const error = shown(incident.text, 150) || 'an error';
    const slots = template === 'continue' ? { error } : { minutes, activity: view.reading.detail ?? 'working' };
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
    });
    if (result.outcome === 'refused') {
      open.lastRefusal = result.reason;
      this.#later(open);
      return;
    }
    open.lastRefusal = null;
    incident.prompts += 1;
    incident.lastPromptMs = this.#parts.clock.nowMs();
    this.#lastPrompt.agent.set(view.agent, incident.lastPromptMs);
    open.retryWaitMs = retryMs.first;
    this.#save(incident);
  }

  async #tellAbout(open: Open, view: AgentView): Promise<void> {
    if (!(await this.#parts.teller.tell(open.incident, view))) {
      this.#later(open);
      return;
    }
    open.incident.tells += 1;
    open.incident.lastTellMs = this.#parts.clock.nowMs();
    open.retryWaitMs = retryMs.first;
    this.#save(open.incident);
  }

  /** Telling needs no authority over the agent, but a pause and the watch mode hold it back as everything else. */
  #mayTell(open: Open): boolean {
    const why = whyNotAllowed('observe', {
      mode: this.#parts.config().mode,
      paused: this.#parts.paused(),
      authority: 'observe',
    });
    if (why !== null) open.step = { do: 'wait', for: 'tell', reason: why, untilMs: null };
    return why === null;
  }

  async #drop(incident: Incident, nowMs: number, reason: Refusal): Promise<void> {
    const { store, host } = this.#parts;
    const id = randomUUID();
    const intent = { check: incident.check, text: incident.text };
    const trigger = `rule:${incident.check}` as const;
    await this.#parts.flush();
    await store.intend(host, {
      id,
      atMs: nowMs,
      agent: incident.agent,
      kind: 'prompt',
      trigger,
      intent,
      finding: incident.id,
    });
    await store.conclude({ actionId: id, atMs: nowMs, outcome: 'refused', reason, proof: null });
  }

  #track(work: Promise<void>): void {
    const tracked = work.catch(this.#parts.failed).finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }

  #later(open: Open): void {
    open.retryAtMs = this.#parts.clock.nowMs() + open.retryWaitMs;
    open.retryWaitMs = Math.min(open.retryWaitMs * 2, retryMs.last);
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

function key(agent: string, check: CheckName): string {
  return `${agent}\n${check}`;
}

function fresh(incident: Incident): Open {
  const step: Step = { do: 'wait', for: null, reason: 'just opened', untilMs: null };
  return { incident, step, busy: false, retryAtMs: 0, retryWaitMs: retryMs.first, lastRefusal: null };
}
