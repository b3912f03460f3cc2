import type { Config } from '../config/schema.ts';
import { isRules, whyNotAllowed } from '../decide/gate.ts';
import { nextMove, timeAtStep } from '../decide/handoff/cycle.ts';
import { hasArrived } from '../decide/handoff/deeds.ts';
import type { HandoffFacts, HandoffWait, Move } from '../decide/handoff/moves.ts';
import { hasPlace, type Place } from '../decide/handoff/places.ts';
import { backgroundMs, documentRecipe, policyFor, recipeCalled } from '../decide/handoff/recipe.ts';
import { withTraces } from '../decide/handoff/traces.ts';
import { isRulesFirst, isTry, whyNotYet, wouldStand } from '../decide/handoff/tries.ts';
import { whyHandOff } from '../decide/handoff/trigger.ts';
import { waitWords } from '../decide/wait-words.ts';
import type { Board } from '../findings/board.ts';
import type { Home } from '../home/home.ts';
import type { Refusal } from '../model/action.ts';
import type { AgentView, Found } from '../model/agent.ts';
import type { Caller } from '../model/caller.ts';
import { type Handoff, type HandoffChange, type HandoffStep, isOpen, stepOf } from '../model/handoff.ts';
import type { HoldStanding } from '../model/hold.ts';
import { Running } from '../model/running.ts';
import type { SessionEvent } from '../model/session-event.ts';
import type { Store } from '../model/store.ts';
import type { Clock } from '../model/world.ts';
import type { Git } from '../sense/git.ts';
import { isDirectory } from '../sense/handoff-file.ts';
import type { WatchedAgent } from '../watch/watched-agent.ts';
import { Cycle, moveHandoff } from './cycle.ts';
import { type HandoffActions, HandoffDeeds, isWriting, type TypedMove } from './deeds.ts';
import { type HandoffDocument, handoffDocument, unbegunDocument } from './documents.ts';
import { lookAtDocument, type SeenDocument } from './look.ts';
import { newHandoff } from './new-handoff.ts';
import { type HandoffNews, handoffTroubles, newsOf, stuckFinding } from './news.ts';
import { OddHandoffs } from './odd-handoffs.ts';
import { type Plan, planFor } from './plan.ts';
import { Trust, type TrustParts } from './trust.ts';
import { isSameWork, workToList } from './work.ts';

/** What keeps one that is open from going on. */
export interface HandoffWaiting {
  id: string;
  agent: string;
  step: HandoffStep;
  reason: HandoffWait;
  sinceMs: number;
}

export interface HandoffsParts extends Pick<TrustParts, 'directory' | 'hasSession' | 'odd'> {
  host: string;
  home: Home;
  uid: number;
  store: Pick<
    Store,
    | 'beginHandoff'
    | 'takeHandoffStep'
    | 'loadHandoffs'
    | 'oddHandoffs'
    | 'endOddHandoff'
    | 'handoffActions'
    | 'handoffText'
  >;
  clock: Clock;
  git: Git;
  config: () => Config;
  configFor: (agent: string) => Config;
  /** It asks before it writes, and nobody could answer but a person. */
  handoffWaits: (agent: string) => boolean;
  paused: () => boolean;
  /** Until when rules do nothing, for the daemon has only just started; null: they may. */
  quietUntilMs: () => number | null;
  actions: HandoffActions;
  agent: (name: string) => Pick<WatchedAgent, 'seen' | 'sessionId' | 'handoffDue' | 'isBehind'> | null;
  board: Pick<Board, 'about' | 'findings' | 'post' | 'view' | 'views'>;
  /** The ids of the background work that runs for an agent, whoever told of it. */
  running: (agent: string) => readonly string[];
  flush: () => Promise<boolean>;
  /** Rows and events about it. */
  news: (news: HandoffNews) => void;
  /** Another daemon has the agent, and its handoff. */
  isElsewhere: (agent: string) => boolean;
  hold: (view: AgentView) => HoldStanding;
  failed: (error: unknown) => void;
}

const rememberedMs = 24 * 3_600_000;
/** In these the agent's document is what counts. */
const looking: readonly HandoffStep[] = ['prompted', 'written', 'verified', 'saved', 'cleared'];

/** Hands full contexts over to fresh ones. Each round takes every open handoff one decision further. */
export class Handoffs {
  readonly #parts: HandoffsParts;
  readonly #deeds: HandoffDeeds;
  readonly #trust: Trust;
  readonly #odd: OddHandoffs;
  /** Open ones, by agent, in the order they were requested. */
  readonly #open = new Map<string, Cycle>();
  /** By agent, why a rule will hand it over as soon as rules may do anything. */
  readonly #coming = new Map<string, string>();
  /** Those of the last day that are over, oldest first. */
  #over: Handoff[] = [];
  readonly #running: Running;

  constructor(parts: HandoffsParts) {
    this.#parts = parts;
    this.#running = new Running(parts.failed);
    this.#trust = new Trust(parts);
    this.#odd = new OddHandoffs(parts);
    this.#deeds = new HandoffDeeds({ ...parts, why: (cycle) => this.#why(cycle) });
  }

  /**
   * false: they could not be read, and nothing may begin or go on before they are. `only`: those agents' anew, as whoever
   * had the agents until now left them. `aheadMs`: by so much the clock was set since.
   */
  async restore(only: ReadonlySet<string> | null = null, aheadMs = 0): Promise<boolean> {
    const { store, host, clock } = this.#parts;
    const stored = await store.loadHandoffs(host, clock.nowMs() - rememberedMs - aheadMs);
    if (!stored.ok || !(await this.#odd.read())) return false;
    this.#over = this.#over.filter(({ agent }) => only?.has(agent) !== true);
    for (const agent of only ?? []) this.#open.delete(agent);
    for (const handoff of stored.value.filter(({ agent }) => only === null || only.has(agent))) {
      if (isOpen(handoff)) this.#open.set(handoff.agent, new Cycle(handoff, clock.monotonicMs(), false));
      else this.#over.push(handoff);
    }
    return true;
  }

  clockSet(byMs: number, nowMs: number): void {
    for (const each of this.#open.values()) each.clockSet(byMs, nowMs);
    for (const each of this.#over) moveHandoff(each, byMs, nowMs);
  }

  told(agent: string, event: SessionEvent): void {
    const cycle = this.#open.get(agent);
    const sessionId = cycle === undefined ? null : (this.#parts.agent(agent)?.sessionId ?? null);
    if (sessionId !== null) cycle?.told(sessionId, event);
  }

  /** The step of the handoff that runs; null: none does. */
  running(agent: string): HandoffStep | null {
    const cycle = this.#open.get(agent);
    return cycle === undefined ? null : stepOf(cycle.handoff);
  }

  /** Does the background work of one session of an agent go on in the other? null: that is yet to be decided. */
  isSameWork(agent: string, from: string, to: string): boolean | null {
    const over = this.#over.filter((handoff) => handoff.agent === agent);
    return isSameWork(this.#open.get(agent)?.handoff ?? null, over, from, to);
  }

  /** What is done or waited for; null: no handoff runs. */
  next(agent: string): string | null {
    const cycle = this.#open.get(agent);
    if (cycle === undefined) return null;
    const doing = cycle.move.do === 'wait' ? `waits: ${waitWords(cycle.move.reason)}` : cycle.move.do;
    return `handoff ${stepOf(cycle.handoff)}, ${doing}`;
  }

  /** Those that only wait. */
  waiting(): HandoffWaiting[] {
    return [...this.#open.values()].flatMap(({ handoff, move, waitsSinceMs }) =>
      move.do !== 'wait' || waitsSinceMs === null
        ? []
        : [
            {
              ...{ id: handoff.id, agent: handoff.agent, step: stepOf(handoff) },
              ...{ reason: move.reason, sinceMs: waitsSinceMs },
            },
          ],
    );
  }

  /** Why a rule will hand it over once the start is over; null: it will not. */
  coming(agent: string): string | null {
    return this.#coming.get(agent) ?? null;
  }

  round(views: readonly AgentView[]): void {
    this.#post();
    this.#coming.clear();
    this.#running.begin(this.#odd.round());
    const isOurs = ({ agent }: { agent: string }) => !this.#parts.isElsewhere(agent);
    for (const view of views.filter(isOurs)) if (!this.#open.has(view.agent)) this.#considerRule(view);
    for (const cycle of this.#open.values()) {
      if (!isOurs(cycle.handoff)) this.#deeds.disallow(cycle);
      if (cycle.busy || !isOurs(cycle.handoff)) continue;
      cycle.busy = true;
      const done = () => {
        cycle.busy = false;
      };
      this.#running.begin(this.#advance(cycle).finally(done));
    }
  }

  settled(): Promise<void> {
    return this.#running.settled();
  }

  /** A person's own request. The one that runs already is theirs as well. */
  async request(agent: string, dryRun: boolean, by: Caller): Promise<HandoffDocument> {
    const cycle = this.#open.get(agent);
    if (cycle !== undefined) return this.#document(cycle);
    const view = this.#parts.board.view(agent);
    const atMs = this.#parts.clock.nowMs();
    const plan = view?.cwd == null ? null : this.#plan(view, atMs);
    const unsayable = plan?.canBeSaid === false ? 'unsafe-path' : null;
    const reason = view === null ? 'not-agent' : (this.#whyNotBegin(view) ?? unsayable);
    const would = {
      by,
      file: plan?.file ?? null,
      session: view?.sessionId ?? null,
      recipe: plan?.recipe ?? documentRecipe,
      atMs,
      waits: this.#parts.handoffWaits(agent),
    };
    if (view === null || reason !== null || dryRun) return unbegunDocument(agent, reason, would);
    const begun = await this.#begin(view, 'human', by);
    const why = this.#odd.isBlocked(agent) ? 'untrusted' : 'no-ledger';
    return begun === null ? unbegunDocument(agent, why, would) : this.#document(begun);
  }

  document(id: string): HandoffDocument | null {
    const cycle = [...this.#open.values()].find(({ handoff }) => handoff.id === id);
    if (cycle !== undefined) return this.#document(cycle);
    const over = this.#over.find((handoff) => handoff.id === id);
    return over === undefined ? null : handoffDocument(over, null);
  }

  #post(): void {
    const wrong = (agent: string) => this.#odd.finding(agent) ?? this.#stuck(this.#open.get(agent));
    this.#parts.board.post('handoffs', handoffTroubles(this.#parts.board.views(), wrong, this.#over));
  }

  /** A person knows of the failed one. */
  acknowledged(id: string): void {
    for (const handoff of this.#over) if (handoff.id === id) handoff.acked = true;
    this.#post();
  }

  #considerRule(view: AgentView): void {
    const { handoff, mode } = this.#parts.configFor(view.agent);
    const due = this.#parts.agent(view.agent)?.handoffDue(policyFor(view.agent, handoff)) ?? null;
    if (due === null || !due.now) return;
    const nowMs = this.#parts.clock.nowMs();
    if (view.limitedUntilMs !== null && nowMs < view.limitedUntilMs) return;
    const now = { isWatching: mode !== 'act', waits: this.#parts.handoffWaits(view.agent) };
    const mine = this.#over.filter((one) => one.agent === view.agent && isTry(one, now));
    if (this.#whyNotBegin(view, 'rule') !== null) return;
    if (whyNotYet(mine, view.sessionId, handoff.deadlineMinutes * 60_000, nowMs) !== null) return;
    if (this.#parts.quietUntilMs() !== null) {
      if (this.#forbidden(view, false) === null) this.#coming.set(view.agent, due.reason);
      return;
    }
    this.#running.begin(this.#begin(view, `rule:${due.reason}`, 'rule'));
  }

  /** `rule`: in watch mode and while paused a rule's handoff is still put on record, and goes no further. */
  #whyNotBegin(view: AgentView, by: 'human' | 'rule' = 'human'): Refusal | 'ended' | 'unknown' | 'untrusted' | null {
    if (view.reading.state === 'ended' || view.reading.state === 'unknown') return view.reading.state;
    if (this.#parts.agent(view.agent)?.seen.place == null) return 'not-agent';
    // What is shown of an odd path is not the path.
    if (view.sessionId === null || view.cwd === null || !isDirectory(view.cwd)) return 'unknown';
    if (this.#odd.isBlocked(view.agent)) return 'untrusted';
    const forbidden = this.#forbidden(view, false);
    const isForGood = forbidden === 'authority' || forbidden === 'held-elsewhere';
    return by === 'rule' && !isForGood ? null : forbidden;
  }

  /** Completes "please write a handoff now (…)". */
  #why({ handoff }: Cycle): string {
    const due = handoff.trigger === 'human' ? null : this.#parts.agent(handoff.agent);
    const policy = policyFor(handoff.agent, this.#parts.configFor(handoff.agent).handoff);
    return due === null ? 'somebody asked for it' : whyHandOff(due.handoffDue(policy));
  }

  /** `starting`: also because this daemon has only just started. */
  #forbidden(view: AgentView, starting: boolean) {
    const { mode } = this.#parts.config();
    const { authority } = view;
    const facts = { mode, paused: this.#parts.paused(), starting, authority, hold: this.#parts.hold(view) };
    return whyNotAllowed('manage', facts);
  }

  /** What a person asked for goes on at once after a restart; what a rule began when rules may act again. */
  #isStarting({ handoff }: Cycle): boolean {
    return isRules(handoff) && this.#parts.quietUntilMs() !== null;
  }

  #plan(view: AgentView, atMs: number): Plan {
    const taken = new Set([...this.#open.values()].map(({ handoff }) => handoff.file));
    return planFor(view, this.#parts.configFor(view.agent), atMs, taken);
  }

  async #begin(view: AgentView, trigger: Handoff['trigger'], by: Caller): Promise<Cycle | null> {
    const { store, clock } = this.#parts;
    const atMs = clock.nowMs();
    const { recipe, file } = this.#plan(view, atMs);
    const handoff = newHandoff(view, trigger, by, { recipe, file, atMs });
    const cycle = new Cycle(handoff, clock.monotonicMs());
    cycle.busy = true;
    this.#open.set(view.agent, cycle);
    await this.#parts.flush();
    const stored = await store.beginHandoff(handoff);
    cycle.busy = false;
    if (!stored.ok) {
      this.#open.delete(view.agent);
      // Another one may stand in its way.
      if (stored.reason === 'refused') await this.#odd.read();
      return null;
    }
    this.#odd.begun(view.agent);
    this.#tell(cycle);
    return cycle;
  }

  /** One decision, and what it asks for. */
  async #advance(cycle: Cycle): Promise<void> {
    const { store, clock } = this.#parts;
    const { handoff } = cycle;
    const actions = await store.handoffActions(handoff.id);
    // No ledger, no action.
    if (!actions.ok) return;
    const signs = this.#signs(cycle, this.#parts.board.view(handoff.agent));
    cycle.actions = withTraces(cycle.learn(actions.value, clock.monotonicMs()), signs);
    if (cycle.actions.some(({ deed }) => deed === 'ask')) cycle.placed = true;
    const trust = await this.#trust.judge(cycle, this.#parts.board.view(handoff.agent));
    if (trust === 'foreign') return this.#take(cycle, 'failed', 'untrusted', {});
    const seen = trust === 'ours' ? await this.#look(cycle) : null;
    const view = this.#parts.board.view(handoff.agent);
    // Its first look may have failed: nothing is known of it yet.
    if (view === null && this.#parts.agent(handoff.agent) !== null) return;
    const known = this.#facts(cycle, view, seen);
    const time = timeAtStep(handoff, known);
    if (time === 'anew') cycle.beginStep(clock.monotonicMs());
    else cycle.passed(clock.monotonicMs(), time === 'counts');
    const move = nextMove(handoff, { ...known, stepAgeMs: cycle.stepAgeMs });
    cycle.move = move;
    cycle.waitsSinceMs = move.do === 'wait' ? (cycle.waitsSinceMs ?? clock.nowMs()) : null;
    await this.#do(cycle, move, view, seen);
  }

  async #look(cycle: Cycle): Promise<SeenDocument | null> {
    const { handoff, actions } = cycle;
    const view = this.#parts.board.view(handoff.agent);
    if (view?.reading.state !== 'idle' || !looking.includes(stepOf(handoff))) return null;
    const asked = actions.findLast((action) => action.deed === 'ask' && hasArrived(action));
    return lookAtDocument(handoff, {
      git: this.#parts.git,
      uid: this.#parts.uid,
      // Later only its hash counts: it may have been put back.
      askedMs: stepOf(handoff) === 'cleared' ? 0 : (asked?.atMs ?? handoff.requestedMs),
      background: workToList(view, this.#parts.running(handoff.agent), actions),
      recipe: recipeCalled(handoff.recipe, this.#parts.config().handoff.recipes),
    });
  }

  #facts(cycle: Cycle, view: AgentView | null, seen: SeenDocument | null): Omit<HandoffFacts, 'stepAgeMs'> {
    const { clock, config } = this.#parts;
    return {
      nowMs: clock.nowMs(),
      deadlineMs: config().handoff.deadlineMinutes * 60_000,
      backgroundMs: backgroundMs(config().handoff),
      // On record, but not found again yet: nothing is known of it now.
      agent: view === null || this.#isHere(view) ? view : { ...view, sessionId: null },
      forbidden: view === null ? null : this.#forbidden(view, this.#isStarting(cycle)),
      hasPlace: this.#hasPlace(cycle),
      document: seen?.look ?? null,
      ...this.#signs(cycle, view),
      actions: cycle.actions,
      agesMs: cycle.agesMs(clock.monotonicMs()),
    };
  }

  #signs(cycle: Cycle, view: AgentView | null) {
    const { oldSession, newSession } = cycle.handoff;
    const fresh = newSession ?? (view?.sessionId === oldSession ? null : (view?.sessionId ?? null));
    return { old: cycle.signs(oldSession), fresh: cycle.signs(fresh) };
  }

  #isHere({ agent, reading }: AgentView): boolean {
    const living = this.#parts.agent(agent);
    return reading.state === 'ended' || (living !== null && !living.isBehind);
  }

  #hasPlace(cycle: Cycle): boolean {
    const taken = [...this.#open.values()].filter((other) => other.placed).map((other) => this.#placeOf(other));
    return cycle.placed || hasPlace(this.#placeOf(cycle), taken, this.#parts.config().handoff.maxParallel);
  }

  #placeOf(cycle: Cycle): Place {
    const { id, agent, project, recipe, cwd } = cycle.handoff;
    const account = this.#parts.agent(agent)?.seen.configDir ?? null;
    const told = this.#stuck(cycle) === null ? null : this.#parts.board.about(agent, 'handoff-failed', id);
    // A human knows that it is stuck.
    const isLeft = told !== null && (told.tells > 0 || told.ackedMs !== null);
    return { project, account, shared: recipe === documentRecipe ? null : cwd, isLeft };
  }

  #stuck(cycle: Cycle | undefined): Found | null {
    const { clock, config } = this.#parts;
    const client = cycle === undefined ? null : this.#parts.agent(cycle.handoff.agent)?.seen.client.name;
    return stuckFinding(cycle, client ?? null, config().handoff.deadlineMinutes * 60_000, clock.nowMs());
  }

  async #do(cycle: Cycle, move: Move, view: AgentView | null, seen: SeenDocument | null): Promise<void> {
    if (view !== null) this.#deeds.permit(cycle, view, cycle.isOurs && this.#forbidden(view, false) === null);
    switch (move.do) {
      case 'wait':
        return;
      case 'step': {
        const sentBack =
          move.step === 'prompted' && move.reason !== null ? { sentBack: cycle.handoff.sentBack + 1 } : {};
        return this.#take(cycle, move.step, move.reason, sentBack);
      }
      case 'save':
        if (seen?.text == null || seen.look.kind !== 'ok') return;
        return this.#take(cycle, 'saved', null, {
          document: { text: seen.text, sha256: seen.look.sha256 },
          file: seen.file,
        });
      case 'note-cleared':
        return this.#take(cycle, 'cleared', null, { newSession: move.newSession });
      case 'put-back':
        return this.#putBack(cycle, view);
      case 'fail':
        return this.#take(cycle, 'failed', move.reason, {});
      default:
        if (move.do === 'ask' && isRulesFirst(cycle.handoff) && this.#parts.handoffWaits(cycle.handoff.agent))
          return this.#take(cycle, 'failed', wouldStand, {});
        if (view === null || cycle.isPausing(this.#parts.clock.monotonicMs())) return;
        if (move.do === 'ask') cycle.placed = true;
        await this.#deed(cycle, move, view);
    }
  }

  /** Whether it succeeded the next look tells. */
  async #putBack(cycle: Cycle, view: AgentView | null): Promise<void> {
    const text = await this.#parts.store.handoffText(cycle.handoff.id);
    if (!text.ok || view === null) return;
    const { reason, ...change } = this.#trust.putBack(cycle, view, text.value ?? '');
    await this.#take(cycle, 'cleared', reason, change);
  }

  async #deed(cycle: Cycle, move: TypedMove, view: AgentView): Promise<void> {
    const never = await this.#deeds.do(cycle, move, view);
    if (never !== null) await this.#take(cycle, 'failed', never, {});
  }

  async #take(cycle: Cycle, step: HandoffStep, reason: string | null, change: HandoffChange): Promise<void> {
    const { store, clock } = this.#parts;
    const { handoff } = cycle;
    const taken = { step, atMs: clock.nowMs(), reason };
    const stored = await store.takeHandoffStep(handoff.id, stepOf(handoff), taken, change);
    // Whether it was written after all is known by the rows alone.
    if (!stored.ok) return this.#readAgain(cycle);
    cycle.took(taken, change);
    this.#entered(cycle);
  }

  #entered(cycle: Cycle): void {
    const { handoff } = cycle;
    cycle.beginStep(this.#parts.clock.monotonicMs());
    if (!isWriting(handoff)) this.#deeds.disallow(cycle);
    if (!isOpen(handoff)) {
      this.#open.delete(handoff.agent);
      this.#over.push(handoff);
      this.#over = this.#over.filter(({ requestedMs }) => requestedMs > this.#parts.clock.nowMs() - rememberedMs);
    }
    this.#tell(cycle);
  }

  async #readAgain(cycle: Cycle): Promise<void> {
    const { store, host, clock } = this.#parts;
    const stored = await store.loadHandoffs(host, clock.nowMs() - rememberedMs);
    const now = stored.ok ? stored.value.find(({ id }) => id === cycle.handoff.id) : undefined;
    if (now === undefined || now.steps.length === cycle.handoff.steps.length) return;
    cycle.readAgain(now);
    this.#entered(cycle);
  }

  #document(cycle: Cycle): HandoffDocument {
    const { move } = cycle;
    const waits = this.#parts.handoffWaits(cycle.handoff.agent);
    return handoffDocument(cycle.handoff, move.do === 'wait' ? waitWords(move.reason) : null, waits);
  }

  #tell({ handoff, actions }: Cycle): void {
    this.#post();
    const trouble = this.#parts.board.findings(handoff.agent).find(({ subject }) => subject === handoff.id);
    this.#parts.news(newsOf(handoff, trouble?.id ?? null, actions));
  }
}
