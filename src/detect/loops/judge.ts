import type { RunEvent } from '../../model/run-event.ts';
import type { SessionFact } from '../../model/session-event.ts';
import { isAuthError } from '../checks/auth-failed.ts';
import { refusalOf, refusedMin, statusText } from '../refusals.ts';
import type { Values } from '../thresholds.ts';
import type { LoopLimits } from './check.ts';
import { Completion, type CompletionLimits } from './completion.ts';
import { RecentKeys } from './recent-keys.ts';
import { Silence } from './silence.ts';
import type { StepCount } from './steps.ts';
import { type LoopTrouble, LoopWatch } from './watch.ts';

export type RunCheckName =
  | LoopTrouble['check']
  | 'stalled-turn'
  | 'waiting-human'
  | ErrorName
  | 'context-exhausted'
  | 'completion-missing';

type ErrorName = 'rate-limited' | 'api-error' | 'auth-failed';

export interface JudgeLimits {
  loop: LoopLimits;
  values: Values;
  /** null: nothing is agreed. */
  completion: CompletionLimits | null;
}

/** Trouble in a recorded run. `from` is where it began, `index` where it was told. */
export interface RunFinding {
  check: RunCheckName;
  from: number;
  index: number;
  atMs: number;
  sinceMs: number;
  text: string;
  /** The last record it covers; null: until the end. */
  until: number | null;
  untilMs: number | null;
}

/** A finding began or is over. */
export interface RunNote {
  event: 'open' | 'close';
  finding: RunFinding;
}

type RunCount = StepCount | 'repeated_events' | 'clock_back' | 'without_time';

const keysMax = 5_000;
const setBackEvents = 20;
const silenceMaxMs = 365 * 24 * 3_600_000;

/** All checks over one recorded run, event by event, on the run's own clock. */
export class RunJudge {
  readonly counts = new Map<RunCount, number>();
  /** How long turns were open; runs without times have none. */
  openMs = 0;
  readonly #silence: Silence;
  readonly #loops: LoopWatch;
  readonly #completion: Completion | null;
  #missing: RunFinding | null = null;
  readonly #told = new Map<LoopTrouble, RunFinding>();
  readonly #tell: (note: RunNote) => void;
  readonly #keys = new RecentKeys(keysMax);
  #nowMs = Number.NaN;
  #index = 0;
  /** Events in a row behind the clock, and the time of the last of them. */
  #behind = 0;
  #behindMs = Number.NEGATIVE_INFINITY;
  #setBackFromMs = Number.NEGATIVE_INFINITY;
  readonly #errors = new Map<ErrorName, RunFinding>();
  /** How often in a row it was not let in, and tried again. */
  #notLetIn = 0;

  constructor(limits: JudgeLimits, tell: (note: RunNote) => void) {
    this.#tell = tell;
    this.#silence = new Silence(limits.values);
    this.#completion = limits.completion === null ? null : new Completion(limits.completion);
    this.#loops = new LoopWatch(
      { loop: limits.loop, values: () => limits.values },
      {
        opened: (trouble) => {
          const { check, from, index, atMs, sinceMs, text } = trouble;
          this.#told.set(trouble, this.#open(check, from, index, atMs, sinceMs, text));
        },
        closed: (trouble, index) => {
          const finding = this.#told.get(trouble);
          this.#told.delete(trouble);
          if (finding !== undefined) this.#close(finding, index);
        },
        count: (what) => this.#count(what),
      },
    );
  }

  get steps(): number {
    return this.#loops.steps;
  }

  take(event: RunEvent): void {
    if (!this.#keys.add(event.key)) {
      this.#count('repeated_events');
      return;
    }
    this.#tick(event);
    const { fact, side } = event;
    this.#silence.take(fact, side, this.#nowMs);
    if (side) return;
    this.#takeErrors(fact, event.index);
    if (this.#completion?.take(fact, event.index, this.#nowMs) && this.#missing !== null) {
      this.#close(this.#missing, event.index);
      this.#missing = null;
    }
    this.#loops.take({ fact, index: event.index, atMs: this.#nowMs });
  }

  /** Nothing is on record after that, up to this moment. */
  end(nowMs: number): void {
    this.#tellMissing(nowMs);
  }

  #tellMissing(nowMs: number): void {
    const due = this.#completion?.due(nowMs) ?? null;
    if (due !== null)
      this.#missing = this.#open('completion-missing', due.index, due.index, due.dueMs, due.sinceMs, due.text);
  }

  /** The clock goes through the silence before the event. */
  #tick({ atMs, index }: RunEvent): void {
    if (Number.isNaN(atMs)) this.#count('without_time');
    else if (atMs < this.#nowMs) this.#takeBack(atMs);
    else if (this.#isSetForward(atMs)) {
      // Nobody knows how much of that is silence.
      this.#nowMs = atMs;
      this.#silence.passOver(atMs);
    } else {
      this.#behind = 0;
      this.#tellMissing(atMs);
      if (this.#silence.open && !Number.isNaN(this.#nowMs)) this.openMs += atMs - this.#nowMs;
      const due = this.#silence.due(atMs);
      if (due !== null) {
        const { check, text, dueMs, sinceMs } = due;
        const silent = `${text} for ${Math.round((dueMs - sinceMs) / 60_000)} min`;
        const finding = this.#open(check, this.#index, this.#index, dueMs, sinceMs, silent);
        this.#nowMs = atMs;
        this.#close(finding, index);
      }
      this.#nowMs = atMs;
    }
    this.#index = index;
  }

  /** After it was set back, or from the date of a machine that had no clock. */
  #isSetForward(atMs: number): boolean {
    const wasSetBack = this.#nowMs < this.#setBackFromMs && atMs >= this.#setBackFromMs;
    return wasSetBack || atMs - this.#nowMs > silenceMaxMs;
  }

  /** A record that is late changes nothing; many in a row, in order, are a clock that was set back. */
  #takeBack(atMs: number): void {
    this.#count('clock_back');
    this.#behind = atMs >= this.#behindMs ? this.#behind + 1 : 1;
    this.#behindMs = atMs;
    if (this.#behind < setBackEvents) return;
    this.#setBackFromMs = Math.max(this.#setBackFromMs, this.#nowMs);
    this.#nowMs = atMs;
    this.#behind = 0;
  }

  #takeErrors(fact: SessionFact, index: number): void {
    if (isFull(fact)) {
      const text = fact.kind === 'compacted' ? 'compacted by itself' : 'the turn was given up, the context is full';
      const finding = this.#open('context-exhausted', index, index, this.#nowMs, this.#nowMs, text);
      this.#close(finding, index);
    } else if (fact.kind === 'retry' || fact.kind === 'api-error') {
      const name = errorName(fact);
      this.#notLetIn = name === 'auth-failed' ? this.#notLetIn + 1 : 0;
      if (name === 'auth-failed' && fact.kind === 'retry' && this.#notLetIn < refusedMin) return;
      if (!this.#errors.has(name))
        this.#errors.set(name, this.#open(name, index, index, this.#nowMs, this.#nowMs, errorText(fact)));
    } else if (fact.kind === 'reply' || fact.kind === 'prompt' || fact.kind === 'interrupted') {
      for (const finding of this.#errors.values()) this.#close(finding, index);
      this.#errors.clear();
      this.#notLetIn = 0;
    }
  }

  #open(check: RunCheckName, from: number, index: number, atMs: number, sinceMs: number, text: string): RunFinding {
    const finding = { check, from, index, atMs, sinceMs, text, until: null, untilMs: null };
    this.#tell({ event: 'open', finding });
    return finding;
  }

  #close(finding: RunFinding, index: number): void {
    finding.until = index;
    finding.untilMs = this.#nowMs;
    this.#tell({ event: 'close', finding });
  }

  #count(what: RunCount): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }
}

function isFull(fact: SessionFact): boolean {
  if (fact.kind === 'compacted') return fact.trigger === 'auto';
  return fact.kind === 'api-error' && fact.error === 'context_window_exceeded';
}

type ErrorFact = Extract<SessionFact, { kind: 'retry' | 'api-error' }>;

function errorText(fact: ErrorFact): string {
  if (fact.kind === 'retry')
    return fact.status === null ? 'the client tries again' : `the client tries again (${statusText(fact.status)})`;
  const status = fact.status === null ? '' : ` (${fact.status})`;
  const resets = fact.resetsAtMs === null ? '' : `, resets ${new Date(fact.resetsAtMs).toISOString()}`;
  return `the turn was given up${status}${resets}`;
}

/** Too many requests, or the service too busy for them; not let in; everything else is an error. */
function errorName(fact: ErrorFact): ErrorName {
  const kind = fact.kind === 'api-error' ? fact.error : null;
  const refusal = refusalOf(fact.status);
  if (refusal === 'limit' || kind === 'rate_limit') return 'rate-limited';
  return refusal === 'auth' || isAuthError(kind) ? 'auth-failed' : 'api-error';
}
