import type { Config } from '../config/schema.ts';
import { whyNotAllowed } from '../decide/gate.ts';
import { isToldInstead, type NextStep, nextStep } from '../decide/policy.ts';
import { saidTogether } from '../decide/together.ts';
import { isShared } from '../detect/mass-failure.ts';
import { type Board, readUpMs } from '../findings/board.ts';
import { isHeldBack, later, type Open, retryFirstMs, whyNotNow } from '../findings/open-incident.ts';
import type { AgentView, Finding } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import type { HoldStanding } from '../model/hold.ts';
import type { Incident } from '../model/incident.ts';
import { Running } from '../model/running.ts';
import type { Score } from '../model/score.ts';
import type { Store } from '../model/store.ts';
import type { Clock } from '../model/world.ts';
import { type Due, type RuleActions, RulePrompts } from './rule-prompts.ts';
import type { Scores } from './scores.ts';
import type { Spoken } from './spoken.ts';

interface KeeperParts {
  host: string;
  store: Store;
  clock: Clock;
  config: () => Config;
  paused: () => boolean;
  /** Until when rules do nothing, for it has only just started; null: they may. */
  quietUntilMs: () => number | null;
  board: Board;
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
  failed: (error: unknown) => void;
}

/** How long a trouble waits for company at most. */
const othersMs = 5_000;

/** Does the policy's next step about everything that is open on the board. Level-triggered. */
export class Keeper {
  readonly #parts: KeeperParts;
  readonly #prompts: RulePrompts;
  readonly #running: Running;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#prompts = new RulePrompts(parts);
    this.#running = new Running(parts.failed);
  }

  /** `isLast`: of a single run, in which everything was looked at as often as it needs. */
  round(isLast = false): void {
    const { board, isElsewhere, scores } = this.#parts;
    const nowMs = this.#parts.clock.nowMs();
    const { opened, closed } = board.round(isElsewhere, isLast);
    // How this ended is known from the first moment.
    for (const open of opened) if (open.incident.check === 'ended-unexpectedly') this.#score(open, null, nowMs, false);
    for (const open of closed) this.#closed(open);
    const due = new Map<AgentView, Due[]>();
    for (const open of board.open()) {
      const { agent } = open.incident;
      const view = agent === null ? null : board.view(agent);
      if (isElsewhere(agent)) open.step = { do: 'wait', for: null, reason: 'held-elsewhere', untilMs: null };
      else if ((view !== null || agent === null) && !open.busy) {
        const said = this.#advance(open, view, nowMs);
        if (said !== null && view !== null) due.set(view, [...(due.get(view) ?? []), said]);
      }
    }
    for (const [view, each] of due) this.#prompt(view, each, nowMs);
    scores.forgetOthers(new Set(board.views().map(({ agent }) => agent)));
  }

  /** Until everything begun is done: for a single round. */
  async settled(): Promise<void> {
    await this.#running.settled();
    await this.#parts.board.settled();
  }

  /** `denied`: the person says that there is no such trouble. */
  async acknowledge(open: Open, denied: boolean): Promise<void> {
    open.incident.ackedMs = this.#parts.clock.nowMs();
    if (denied) this.#score(open, null, open.incident.ackedMs, true);
    this.#parts.board.save(open);
    // Noted also where its row still waits for the database.
    await open.saved;
  }

  #closed(open: Open): void {
    const { agent } = open.incident;
    this.#score(open, agent === null ? null : this.#parts.board.view(agent), open.seenMs, false);
    // A prompt that waited for its moment is no longer true: dropped, and on record as that.
    if (open.step.do === 'wait' && open.step.for === 'prompt')
      this.#running.begin(this.#prompts.drop(open.incident, 'stale'));
  }

  /** Tells what is to be told; what is to be said to its agent is handed back. */
  #advance(open: Open, view: AgentView | null, nowMs: number): Due | null {
    const { incident, finding } = open;
    open.step = this.#decide(open, view, finding, nowMs);
    const { step } = open;
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

  #decide(open: Open, view: AgentView | null, finding: Finding | null, nowMs: number): NextStep {
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
    const next = step.do === 'tell' ? (this.#alone(incident, nowMs) ?? step) : step;
    const quietUntilMs = next.do === 'wait' ? null : this.#parts.quietUntilMs();
    return next.do === 'wait' || quietUntilMs === null
      ? next
      : { do: 'wait', for: next.do, reason: 'starting', untilMs: quietUntilMs };
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
  #alone({ agent, check, openedMs, tells }: Incident, nowMs: number): NextStep | null {
    if (agent === null || !isShared(check)) return null;
    const { board } = this.#parts;
    const { tickSeconds, judging } = this.#parts.config();
    const many = this.#parts.isOneOfMany(agent, check);
    if (many !== null) {
      const mass = board.about(null, 'mass-failure', many);
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
    const mayCome = nowMs - board.sinceMs > readUpMs && board.views().length >= judging.massCount;
    return mayCome && tells === 0 && nowMs < untilMs
      ? { do: 'wait', for: 'tell', reason: 'others-may-follow', untilMs }
      : null;
  }

  #begin(opens: Open[], work: Promise<void>): void {
    for (const open of opens) open.busy = true;
    const done = () => {
      for (const open of opens) open.busy = false;
    };
    this.#running.begin(work.finally(done));
  }

  async #tellAbout(open: Open, view: AgentView | null): Promise<void> {
    // Its row first, if there can be one: after a crash it would be another trouble and be told at once.
    await open.saved;
    const told = await this.#parts.actions.tell(open.incident, view, open.last?.sinceMs);
    const { incident } = open;
    if (told !== 'all') later(open, this.#parts.clock.nowMs());
    if (told === 'none' || (told === 'some' && open.isToldPartly)) return;
    // Who was reached was told: the other channels are tried on for the same message.
    if (!open.isToldPartly) incident.tells += 1;
    open.isToldPartly = told === 'some';
    if (told === 'all') {
      incident.lastTellMs = this.#parts.clock.nowMs();
      open.retryWaitMs = retryFirstMs;
    }
    this.#parts.board.save(open);
  }

  /** Telling needs no authority over the agent, but a pause and the watch mode hold it back as everything else. */
  #mayTell(open: Open, view: AgentView | null): boolean {
    const { config, paused, hold } = this.#parts;
    const facts = { mode: config().mode, paused: paused(), starting: false, authority: 'observe' as const };
    const why = whyNotAllowed('observe', { ...facts, hold: view === null ? 'none' : hold(view) });
    if (why !== null) open.step = { do: 'wait', for: 'tell', reason: why, untilMs: null };
    return why === null;
  }

  /** `endedMs`: when it was last seen. */
  #score({ incident }: Open, view: AgentView | null, endedMs: number, denied: boolean): void {
    const { board, scores } = this.#parts;
    const score = scores.score(incident, view, endedMs, denied);
    if (incident.closedMs !== null) board.ended(incident, score, incident.closedMs);
    this.#running.begin(this.#storeScore(score));
  }

  async #storeScore(score: Score): Promise<void> {
    const saved = await this.#parts.store.saveScore(score);
    if (!saved.ok) throw new Error(`a score was not stored: ${saved.message}`);
  }
}
