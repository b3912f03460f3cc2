import type { RunEvent } from '../../model/run-event.ts';
import { Held, type Trouble } from '../loops/held.ts';
import type { Brought } from '../loops/novelty.ts';
import type { Step } from '../loops/steps.ts';
import type { Moment, TrendCheck, TrendFold, TrendLimits, TrendName } from './check.ts';
import { cognitiveDecay } from './cognitive-decay.ts';
import { costSpike } from './cost-spike.ts';
import { entropy } from './entropy.ts';
import { errorAcceleration } from './error-acceleration.ts';
import { lowCache } from './low-cache.ts';
import { lowEfficiency } from './low-efficiency.ts';
import { repetition } from './repetition.ts';
import { Spending } from './spending.ts';
import { tokenBurn } from './token-burn.ts';

export const trendChecks: readonly TrendCheck[] = [
  repetition,
  errorAcceleration,
  tokenBurn,
  entropy,
  costSpike,
  lowCache,
  lowEfficiency,
  cognitiveDecay,
];

interface Watched {
  held: Held<TrendName>;
  fold: TrendFold;
  lasts: TrendCheck['lasts'];
}

/** The trends over one conversation: each against the run's own past, none of them proof. */
export class TrendWatch {
  readonly #spending = new Spending();
  readonly #watched: Watched[];

  constructor(
    limits: () => TrendLimits,
    opened: (trouble: Trouble<TrendName>) => void,
    closed: (trouble: Trouble<TrendName>, index: number) => void,
  ) {
    this.#watched = trendChecks.map((check) => ({
      held: new Held(check.name, opened, closed),
      fold: check.start(limits),
      lasts: check.lasts,
    }));
  }

  get open(): Trouble<TrendName>[] {
    return this.#watched.map(({ held }) => held.open).filter((trouble) => trouble !== null);
  }

  take(event: Pick<RunEvent, 'fact' | 'index' | 'atMs'>): void {
    const { kind } = event.fact;
    const spent = this.#spending.take(event);
    if (spent !== null) this.#tell({ kind: 'request', spent }, event);
    if (kind !== 'prompt' && kind !== 'interrupted' && kind !== 'compacted') return;
    const memory = kind === 'compacted';
    for (const { held, lasts } of this.#watched) if (memory || lasts === 'turn') held.clear(event.index);
    this.#tell({ kind: 'fresh', memory }, event);
  }

  step(step: Step, brought: Brought): void {
    this.#tell({ kind: 'step', step, brought }, step);
  }

  #tell(moment: Moment, at: { index: number; atMs: number }): void {
    for (const { held, fold } of this.#watched) {
      const word = fold(moment);
      if (word === null) held.calm(at);
      else if (word !== undefined) held.hold(at, word);
    }
  }
}
