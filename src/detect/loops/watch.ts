import type { CheckName } from '../../model/check.ts';
import type { RunEvent } from '../../model/run-event.ts';
import type { SessionFact } from '../../model/session-event.ts';
import { loopChecks } from '../checks.ts';
import type { Values } from '../thresholds.ts';
import { TrendWatch } from '../trends/watch.ts';
import type { LoopFold, LoopLimits } from './check.ts';
import { Held, type Trouble } from './held.ts';
import { Novelty } from './novelty.ts';
import { OnlyWords } from './only-words.ts';
import { type CallStep, type StepCount, StepPairs } from './steps.ts';

/** What they look for has changes in it, so a change is no reason to begin again. */
const lookAtChanges: ReadonlySet<CheckName> = new Set(['edit-revert', 'no-progress']);

export type LoopTrouble = Trouble;

export interface WatchLimits {
  loop: LoopLimits;
  values: () => Values;
}

interface Watched {
  held: Held;
  fold: LoopFold;
}

/** Loops and trends over one conversation, live or recorded, event by event. */
export class LoopWatch {
  steps = 0;
  readonly #pairs: StepPairs;
  readonly #novelty = new Novelty();
  readonly #words = new OnlyWords();
  readonly #watched: Watched[];
  readonly #trends: TrendWatch;

  constructor(
    limits: WatchLimits,
    tell: {
      opened?: (trouble: LoopTrouble) => void;
      closed?: (trouble: LoopTrouble, index: number) => void;
      count?: (what: StepCount) => void;
    } = {},
  ) {
    const opened = tell.opened ?? (() => {});
    const closed = tell.closed ?? (() => {});
    this.#pairs = new StepPairs(tell.count ?? (() => {}));
    this.#trends = new TrendWatch(limits.values, opened, closed);
    this.#watched = loopChecks.map((check) => ({
      held: new Held(check.name, opened, closed),
      fold: check.start(limits.loop),
    }));
  }

  /** What is wrong now. */
  get open(): LoopTrouble[] {
    const loops = this.#watched.map(({ held }) => held.open).filter((trouble) => trouble !== null);
    return [...loops, ...this.#trends.open];
  }

  take(event: Pick<RunEvent, 'fact' | 'index' | 'atMs'>): void {
    if (startsOver(event.fact)) this.#clear(event.index);
    this.#trends.take(event);
    const words = this.#words.take(event.fact);
    if (words !== undefined) this.#watched.find(({ held }) => held.name === 'no-progress')?.held.hold(event, words);
    const step = this.#pairs.take(event);
    if (step !== null) this.#takeStep(step);
  }

  #takeStep(step: CallStep): void {
    this.steps += 1;
    const brought = this.#novelty.take(step);
    for (const { held, fold } of this.#watched) {
      if (brought.progress && !lookAtChanges.has(held.name)) held.forget();
      const wrong = fold.take(step, brought);
      if (wrong === null) held.calm(step);
      else if (wrong !== undefined) held.hold(step, wrong);
    }
    this.#trends.step(step, brought);
  }

  #clear(index: number): void {
    this.#novelty.clear();
    this.#words.clear();
    for (const { held, fold } of this.#watched) {
      fold.clear();
      held.clear(index);
    }
  }
}

/** New input: a person's word, or a memory that begins anew. */
function startsOver(fact: SessionFact): boolean {
  return fact.kind === 'prompt' || fact.kind === 'interrupted' || fact.kind === 'compacted';
}
