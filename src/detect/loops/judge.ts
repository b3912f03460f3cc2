import type { RunEvent } from '../../model/run-event.ts';
import type { SessionFact } from '../../model/session-event.ts';
import { isAuthError } from '../checks/auth-failed.ts';
import type { TrendLimits, TrendName } from '../trends/check.ts';
import type { LoopLimits, LoopName } from './check.ts';
import { RecentKeys } from './recent-keys.ts';
import { Silence, type SilenceLimits } from './silence.ts';
import type { StepCount } from './steps.ts';
import { type LoopTrouble, LoopWatch } from './watch.ts';

export type RunCheckName =
  | LoopName
  | TrendName
  | 'stalled-turn'
  | 'waiting-human'
  | 'rate-limited'
  | 'api-error'
  | 'auth-failed'
  | 'context-exhausted';

export interface JudgeLimits {
  loop: LoopLimits;
  trend: TrendLimits;
  silence: SilenceLimits;
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

/** All checks over one recorded run, event by event, on the run's own clock. */
export class RunJudge {
  readonly counts = new Map<RunCount, number>();
  /** How long turns were open; runs without times have none. */
  openMs = 0;
  readonly #silence: Silence;
  readonly #loops: LoopWatch;
  readonly #told = new Map<LoopTrouble, RunFinding>();
  readonly #tell: (note: RunNote) => void;
  readonly #keys = new RecentKeys(keysMax);
  #nowMs = Number.NaN;
  #index = 0;
  #limited: RunFinding | null = null;
  #broken: RunFinding | null = null;

  constructor(limits: JudgeLimits, tell: (note: RunNote) => void) {
    this.#tell = tell;
    this.#silence = new Silence(limits.silence);
    this.#loops = new LoopWatch(
      { loop: limits.loop, trend: () => limits.trend },
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
    this.#loops.take({ fact, index: event.index, atMs: this.#nowMs });
  }

  /** The clock goes through the silence before the event, and never back. */
  #tick({ atMs, index }: RunEvent): void {
    if (Number.isNaN(atMs)) this.#count('without_time');
    else if (atMs < this.#nowMs) this.#count('clock_back');
    else {
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

  #takeErrors(fact: SessionFact, index: number): void {
    if (isFull(fact)) {
      const text = fact.kind === 'compacted' ? 'compacted by itself' : 'the turn was given up, the context is full';
      const finding = this.#open('context-exhausted', index, index, this.#nowMs, this.#nowMs, text);
      this.#close(finding, index);
    } else if (fact.kind === 'retry' || fact.kind === 'api-error') {
      const limit = isLimit(fact);
      const name = limit ? 'rate-limited' : isAuth(fact) ? 'auth-failed' : 'api-error';
      const open = limit ? this.#limited : this.#broken;
      const finding = open ?? this.#open(name, index, index, this.#nowMs, this.#nowMs, errorText(fact));
      if (limit) this.#limited = finding;
      else this.#broken = finding;
    } else if (fact.kind === 'reply' || fact.kind === 'prompt' || fact.kind === 'interrupted') {
      if (this.#limited !== null) this.#close(this.#limited, index);
      if (this.#broken !== null) this.#close(this.#broken, index);
      this.#limited = null;
      this.#broken = null;
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

function errorText(fact: Extract<SessionFact, { kind: 'retry' | 'api-error' }>): string {
  const status = fact.status === null ? '' : ` (${fact.status})`;
  if (fact.kind === 'retry') return `the client tries again${status}`;
  const resets = fact.resetsAtMs === null ? '' : `, resets ${new Date(fact.resetsAtMs).toISOString()}`;
  return `the turn was given up${status}${resets}`;
}

function isAuth(fact: SessionFact): boolean {
  return fact.kind === 'api-error' && isAuthError(fact.error);
}

/** Too many requests, or the service too busy for them; everything else is an error. */
function isLimit(fact: { kind: string; status: number | null; error?: string }): boolean {
  return fact.status === 429 || fact.status === 529 || fact.error === 'rate_limit';
}
