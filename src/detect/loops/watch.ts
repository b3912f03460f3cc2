import type { RunEvent } from '../../model/run-event.ts';
import type { SessionFact } from '../../model/session-event.ts';
import type { LoopCheck, LoopFold, LoopLimits, LoopName } from './check.ts';
import { editRevert } from './edit-revert.ts';
import { looping } from './looping.ts';
import { noProgress } from './no-progress.ts';
import { Novelty } from './novelty.ts';
import { repeatedError } from './repeated-error.ts';
import { type Step, type StepCount, StepPairs } from './steps.ts';

export const loopChecks: readonly LoopCheck[] = [looping, repeatedError, noProgress, editRevert];

/** The same diagnosis on two looks, before anything is said. */
const readingsMin = 2;
/** Steps without the trouble, before it is over. */
const calmSteps = 5;

/** `from` is where it began, `index` where it was told. */
export interface LoopTrouble {
  check: LoopName;
  from: number;
  index: number;
  atMs: number;
  sinceMs: number;
  text: string;
}

interface Watched {
  name: LoopName;
  fold: LoopFold;
  held: { index: number; atMs: number }[];
  calm: number;
  open: LoopTrouble | null;
}

/** The loop family over one conversation, live or recorded, event by event. */
export class LoopWatch {
  steps = 0;
  readonly #pairs: StepPairs;
  readonly #novelty = new Novelty();
  readonly #watched: Watched[];
  readonly #opened: (trouble: LoopTrouble) => void;
  readonly #closed: (trouble: LoopTrouble, index: number) => void;

  constructor(
    limits: LoopLimits,
    tell: {
      opened?: (trouble: LoopTrouble) => void;
      closed?: (trouble: LoopTrouble, index: number) => void;
      count?: (what: StepCount) => void;
    } = {},
  ) {
    this.#opened = tell.opened ?? (() => {});
    this.#closed = tell.closed ?? (() => {});
    this.#pairs = new StepPairs(tell.count ?? (() => {}));
    this.#watched = loopChecks.map((check) => ({
      name: check.name,
      fold: check.start(limits),
      held: [],
      calm: 0,
      open: null,
    }));
  }

  /** What is wrong now. */
  get open(): LoopTrouble[] {
    return this.#watched.map(({ open }) => open).filter((trouble) => trouble !== null);
  }

  take(event: Pick<RunEvent, 'fact' | 'index' | 'atMs'>): void {
    if (startsOver(event.fact)) this.#clear(event.index);
    const step = this.#pairs.take(event);
    if (step !== null) this.#takeStep(step);
  }

  #takeStep(step: Step): void {
    this.steps += 1;
    const brought = this.#novelty.take(step);
    for (const watched of this.#watched) {
      if (brought.progress && watched.name !== 'edit-revert') watched.held.length = 0;
      const wrong = watched.fold.take(step, brought);
      if (wrong === null) this.#calm(watched, step);
      else this.#hold(watched, step, wrong);
    }
  }

  #hold(watched: Watched, { index, atMs }: Step, text: string): void {
    watched.calm = 0;
    if (watched.open !== null) return;
    watched.held.push({ index, atMs });
    const [first] = watched.held;
    if (first === undefined || watched.held.length < readingsMin) return;
    watched.open = { check: watched.name, from: first.index, index, atMs, sinceMs: first.atMs, text };
    this.#opened(watched.open);
  }

  #calm(watched: Watched, { index }: Step): void {
    watched.calm += 1;
    if (watched.calm < calmSteps) return;
    watched.held.length = 0;
    this.#end(watched, index);
  }

  #clear(index: number): void {
    this.#novelty.clear();
    for (const watched of this.#watched) {
      watched.fold.clear();
      watched.held.length = 0;
      watched.calm = 0;
      this.#end(watched, index);
    }
  }

  #end(watched: Watched, index: number): void {
    if (watched.open !== null) this.#closed(watched.open, index);
    watched.open = null;
  }
}

/** New input: a person's word, or a memory that begins anew. */
function startsOver(fact: SessionFact): boolean {
  return fact.kind === 'prompt' || fact.kind === 'interrupted' || fact.kind === 'compacted';
}
