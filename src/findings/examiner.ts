import type { Config } from '../config/schema.ts';
import { Attention } from '../detect/attention.ts';
import { valuesOf } from '../detect/checks.ts';
import { examine } from '../detect/health.ts';
import type { LoopTrouble } from '../detect/loops/watch.ts';
import type { Values } from '../detect/thresholds.ts';
import type { TurnWords } from '../detect/turn-words.ts';
import type { Sighting } from '../model/agent.ts';
import { matchesGlob } from '../model/glob.ts';
import { type Board, gapMs } from './board.ts';

interface ExaminerParts {
  board: Pick<Board, 'examined'>;
  config: () => Config;
}

/** What was read of an agent, beside how it is seen. */
interface Signs {
  loops: readonly LoopTrouble[];
  words: TurnWords | null;
  /** Since when a prompt of ours has had no reaction. */
  unansweredSinceMs: number | null;
}

/** The health checks on every agent, by how it is seen. */
export class Examiner {
  readonly #parts: ExaminerParts;
  readonly #attention = new Attention(gapMs);
  #values: { of: Config; values: Values } | null = null;

  constructor(parts: ExaminerParts) {
    this.#parts = parts;
  }

  /** A pass over the agents begins. */
  pass(nowMs: number): void {
    this.#attention.pass(nowMs);
  }

  examine(view: Sighting, { loops, words, unansweredSinceMs }: Signs, nowMs: number): void {
    const { board, config } = this.#parts;
    const { judging, prompt } = config();
    const signal = judging.completion.find(({ match }) => matchesGlob(match, view.agent))?.signal ?? null;
    const input = {
      view,
      nowMs,
      unansweredSinceMs,
      answerMs: prompt.answerSeconds * 1000,
      loops,
      completion: signal === null || words === null ? null : { signal, said: words.has(signal) },
      missedSince: (sinceMs: number) => this.#attention.missedSince(sinceMs),
    };
    board.examined(view, examine(input, this.limits));
  }

  /** Read out anew only when the configuration was. */
  get limits(): Values {
    const config = this.#parts.config();
    if (this.#values?.of !== config) this.#values = { of: config, values: valuesOf(config) };
    return this.#values.values;
  }
}
