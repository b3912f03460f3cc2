import type { RunEvent } from '../../model/run-event.ts';
import type { TrendCheck } from '../check.ts';
import { trendChecks } from '../checks.ts';
import { Held, type Trouble } from '../loops/held.ts';
import type { Brought } from '../loops/novelty.ts';
import type { CallStep } from '../loops/steps.ts';
import type { Values } from '../thresholds.ts';
import type { TrendEvent, TrendFold } from './check.ts';
import { Spending } from './spending.ts';

interface Watched {
  held: Held;
  fold: TrendFold;
  lasts: TrendCheck['lasts'];
}

/** The trends over one conversation: each against the run's own past, none of them proof. */
export class TrendWatch {
  readonly #spending = new Spending();
  readonly #watched: Watched[];

  constructor(
    limits: () => Values,
    opened: (trouble: Trouble) => void,
    closed: (trouble: Trouble, index: number) => void,
  ) {
    this.#watched = trendChecks.map((check) => ({
      held: new Held(check.name, opened, closed),
      fold: check.start(limits),
      lasts: check.lasts,
    }));
  }

  get open(): Trouble[] {
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

  step(step: CallStep, brought: Brought): void {
    this.#tell({ kind: 'step', step, brought }, step);
  }

  #tell(moment: TrendEvent, at: { index: number; atMs: number }): void {
    for (const { held, fold } of this.#watched) {
      const word = fold(moment);
      if (word === null) held.calm(at);
      else if (word !== undefined) held.hold(at, word);
    }
  }
}
