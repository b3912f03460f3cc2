import { mostDone } from '../decide/policy.ts';
import { waitWords } from '../decide/wait-words.ts';
import type { Board } from '../findings/board.ts';
import type { Open } from '../findings/open-incident.ts';
import type { HandoffWaiting } from '../handoff/handoffs.ts';
import type { Mode, Sighting } from '../model/agent.ts';
import { told as asTold } from '../model/evidence.ts';
import { type Handoff, stepOf } from '../model/handoff.ts';
import { shown } from '../model/text.ts';
import type { Clock } from '../model/world.ts';
import type { GroundedAuthority } from '../watch/authority.ts';
import type { About, Beginning, DeedNews, News, SeenNews } from './news.ts';

interface Parts {
  clock: Clock;
  board: Pick<Board, 'views' | 'open'>;
  grounds: (agent: string) => GroundedAuthority;
  mode: () => Mode;
  paused: () => boolean;
  quietUntilMs: () => number | null;
  /** How long an agent waits before people are told. */
  notifyMs: () => number;
  tell: (news: News) => void;
}

/** The handoffs as they stand. */
interface HandoffsNow {
  /** Why a rule will hand the agent over as soon as rules may; null: none will. */
  coming(agent: string): string | null;
  waiting(): readonly HandoffWaiting[];
}

/** Waits that are over before anybody wonders, and those that say of themselves that nothing is left to do. */
const passing: ReadonlySet<string> = new Set([
  ...['just-opened', 'being-prompted', 'project-prompted-lately', 'others-may-follow', 'record-is-read'],
  ...['not-showing', 'out-of-sight', 'work-goes-first', 'told', 'told-as-one-of-many', 'held-elsewhere'],
]);
/** A time that moved by less is the same one. */
const sameMs = 2_000;
/** Who waits for less is not wondered about. */
const handoffWaitMs = 10_000;
const beginsMs = 10_000;
const textChars = 300;

interface ToldPlan {
  what: string;
  atMs: number | null;
}

/** Compares the world with what was last told of it, look by look: one piece of news for each change, in the order they are seen. */
export class Newsroom {
  readonly #parts: Parts;
  #hasBegun = false;
  readonly #agents = new Map<string, Sighting>();
  readonly #open = new Map<string, Open>();
  /** By incident: what was said to come next, and what was ever said of it. */
  readonly #plans = new Map<string, { last: ToldPlan | null; said: Set<string> }>();
  readonly #coming = new Set<string>();
  readonly #waiting = new Map<string, string>();
  readonly #handoffs = new Map<string, number>();
  #isPaused = false;
  #isQuiet = false;
  #mode: Mode = 'act';

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** How things stand when somebody begins to look on; before it nothing is told. */
  begin(
    given: Pick<Beginning, 'rulesFrom' | 'modeFrom' | 'watchOnly' | 'isFirst' | 'looksIn'>,
    handoffs: HandoffsNow,
  ): void {
    const { board, grounds, mode, paused, quietUntilMs, tell } = this.#parts;
    this.#hasBegun = true;
    this.#isPaused = paused();
    this.#mode = mode();
    const untilMs = quietUntilMs();
    this.#isQuiet = untilMs !== null;
    const living = board.views().filter(({ reading }) => reading.state !== 'ended');
    for (const view of board.views()) this.#agents.set(view.agent, view);
    tell({
      kind: 'beginning',
      ...given,
      agents: living.map((view) => ({ ...seen(view), isInTmux: view.tmux !== null, ...grounds(view.agent) })),
      mode: this.#mode,
      paused: this.#isPaused,
      quietUntilMs: untilMs,
    });
    this.look(handoffs);
  }

  look(handoffs: HandoffsNow): void {
    if (!this.#hasBegun) return;
    this.#lookAtSwitches();
    this.#lookAtAgents();
    this.#lookAtTroubles();
    this.#lookAtHandoffs(handoffs);
  }

  did(news: DeedNews): void {
    if (this.#hasBegun) this.#parts.tell(news);
  }

  handoff(handoff: Handoff): void {
    const { id, agent, file, trigger, steps } = handoff;
    const step = stepOf(handoff);
    const reason = steps.at(-1)?.reason ?? null;
    const nowMs = this.#parts.clock.monotonicMs();
    if (step === 'requested') this.#handoffs.set(id, nowMs);
    const beganMs = this.#handoffs.get(id);
    if (step === 'done' || step === 'failed') this.#handoffs.delete(id);
    const tookMs = beganMs === undefined ? null : nowMs - beganMs;
    if (this.#hasBegun)
      this.#parts.tell({ kind: 'handoff', agent, step, reason, file: shown(file, textChars), trigger, tookMs });
  }

  #lookAtSwitches(): void {
    const { mode, paused, quietUntilMs, tell } = this.#parts;
    const isPaused = paused();
    if (isPaused !== this.#isPaused) tell({ kind: isPaused ? 'paused' : 'unpaused' });
    this.#isPaused = isPaused;
    const nowMode = mode();
    if (nowMode !== this.#mode) tell({ kind: 'mode', mode: nowMode });
    this.#mode = nowMode;
    const isQuiet = quietUntilMs() !== null;
    if (this.#isQuiet && !isQuiet && nowMode === 'act') tell({ kind: 'acts' });
    this.#isQuiet = isQuiet;
  }

  #lookAtAgents(): void {
    const { board, grounds, tell, clock } = this.#parts;
    const views = board.views();
    for (const view of views) {
      const known = this.#agents.get(view.agent);
      // One in the place of one that ended is another one.
      const before = known?.reading.state === 'ended' && view.reading.state !== 'ended' ? undefined : known;
      // Of one that has just begun nothing is known for a moment.
      if (before === undefined && view.reading.state === 'unknown' && clock.nowMs() - view.startedAtMs < beginsMs)
        continue;
      if (before === undefined) {
        // One that nobody saw alive is history.
        if (view.reading.state !== 'ended') tell({ kind: 'found', ...seen(view), ...grounds(view.agent) });
      } else {
        const sinceMs = before.reading.sinceMs;
        if (phase(view) !== phase(before))
          tell({
            kind: 'state',
            ...seen(view),
            before: before.reading.state,
            tellAtMs: this.#tellAtMs(view),
            beforeMs: Math.max(0, clock.nowMs() - sinceMs),
          });
        if (before.authority !== view.authority && view.reading.state !== 'ended')
          tell({ kind: 'authority', agent: view.agent, authority: view.authority });
      }
      // Since when it is in its phase, not in its last detail.
      const isSame = before !== undefined && phase(view) === phase(before);
      const reading = isSame ? { ...view.reading, sinceMs: before.reading.sinceMs } : view.reading;
      this.#agents.set(view.agent, { ...view, reading });
    }
    const names = new Set(views.map(({ agent }) => agent));
    for (const name of this.#agents.keys()) if (!names.has(name)) this.#agents.delete(name);
  }

  /** When people are told that it waits; null: it does not, or nobody is told. */
  #tellAtMs({ reading }: Sighting): number | null {
    const { quietUntilMs, notifyMs } = this.#parts;
    if (reading.state !== 'waiting' || this.#isPaused || this.#mode !== 'act') return null;
    return Math.max(reading.sinceMs + notifyMs(), quietUntilMs() ?? 0);
  }

  #lookAtTroubles(): void {
    const { board, tell, clock } = this.#parts;
    const now = new Map(board.open().map((open) => [open.incident.id, open]));
    for (const [id, open] of this.#open) {
      if (now.has(id)) continue;
      const about = aboutOf(open);
      tell({ kind: 'over', ...about, lastedMs: Math.max(0, clock.nowMs() - about.sinceMs) });
      this.#open.delete(id);
      this.#plans.delete(id);
    }
    for (const [id, open] of now) {
      if (!this.#open.has(id)) this.#tellTrouble(open);
      this.#open.set(id, open);
      this.#tellPlan(id, open);
    }
  }

  #tellTrouble(open: Open): void {
    const { severity, text, check } = open.incident;
    this.#parts.tell({
      kind: 'trouble',
      ...aboutOf(open),
      ...{ severity, isKnown: open.isRestored, isShownOnly: mostDone(check) === 'shows' },
      text: asTold(shown(text, textChars)),
    });
  }

  #tellPlan(id: string, open: Open): void {
    const plans = this.#plans.get(id) ?? { last: null, said: new Set<string>() };
    this.#plans.set(id, plans);
    const { step } = open;
    if (open.busy || step.do !== 'wait' || step.for === null || passing.has(step.reason)) return;
    // A pause is said once for all.
    if (step.reason === 'starting' && this.#isPaused) return;
    const atMs = step.untilMs;
    if (atMs !== null && atMs - this.#parts.clock.nowMs() < sameMs) return;
    const what = `${step.for} ${step.reason}`;
    const isSame = plans.said.has(what) && (atMs === null || isNear(plans.last, { what, atMs }));
    if (isSame) return;
    plans.said.add(what);
    plans.last = { what, atMs };
    this.#parts.tell({ kind: 'plan', ...aboutOf(open), does: step.for, atMs, why: waitWords(step.reason) });
  }

  #lookAtHandoffs(handoffs: HandoffsNow): void {
    const { board, quietUntilMs, clock, tell } = this.#parts;
    const atMs = quietUntilMs();
    for (const { agent } of board.views()) {
      const reason = atMs === null ? null : handoffs.coming(agent);
      if (reason === null || atMs === null || this.#isPaused) this.#coming.delete(agent);
      else if (!this.#coming.has(agent)) {
        this.#coming.add(agent);
        tell({ kind: 'handoff-plan', agent, atMs, reason });
      }
    }
    const waiting = handoffs.waiting().filter(({ sinceMs }) => clock.nowMs() - sinceMs >= handoffWaitMs);
    for (const { id, agent, step, reason } of waiting) {
      const what = `${step} ${reason}`;
      if (this.#waiting.get(id) !== what) tell({ kind: 'handoff-waits', agent, step, why: waitWords(reason) });
      this.#waiting.set(id, what);
    }
    for (const id of this.#waiting.keys()) if (!waiting.some((one) => one.id === id)) this.#waiting.delete(id);
  }
}

function isNear(told: ToldPlan | null, { what, atMs }: { what: string; atMs: number }): boolean {
  return told?.what === what && told.atMs !== null && Math.abs(told.atMs - atMs) < sameMs;
}

/** What of a state is worth a line: not every thought and tool of a turn. */
function phase({ reading: { state, detail }, limitedUntilMs }: Sighting): string {
  if (state === 'working') return detail === 'api-stall' ? 'api-stall' : 'working';
  if (state === 'limited') return `limited ${Math.round((limitedUntilMs ?? 0) / 60_000)}`;
  return `${state} ${detail ?? ''}`;
}

function seen({ agent, reading, lastTurn, errorKind, endedBadly, limitedUntilMs, context }: Sighting): SeenNews {
  const { state, detail } = reading;
  const percent = context?.percent ?? null;
  return { agent, state, detail, lastTurn, errorKind, endedBadly, limitedUntilMs, percent };
}

function aboutOf({ incident, last }: Open): About {
  const { agent, project, check, subject, openedMs } = incident;
  const name = subject === null ? null : shown(subject, 60);
  return { agent, project: shown(project, 60), check, subject: name, sinceMs: last?.sinceMs ?? openedMs };
}
