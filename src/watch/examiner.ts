import type { Config } from '../config/schema.ts';
import { Attention } from '../detect/attention.ts';
import { valuesOf } from '../detect/checks.ts';
import { type Examination, examine, holdOf } from '../detect/health.ts';
import { Holding } from '../detect/hold.ts';
import type { Values } from '../detect/thresholds.ts';
import type { AgentView, Finding } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import type { Clock } from '../model/world.ts';
import { completionSignal } from './check-limits.ts';
import type { WatchedAgent } from './watched-agent.ts';

interface ExaminerParts {
  clock: Clock;
  config: () => Config;
  unansweredSince: (agent: string) => number | null;
  /** A finding's id, the same while its trouble lasts. */
  idFor: (agent: string, check: CheckName, subject: string | null) => string;
  /** There is an open incident about it. */
  isOpen: (agent: string, check: CheckName, subject: string | null) => boolean;
}

/** Passes come every half second, so this long without one the machine slept or this program stood still. */
const gapMs = 10_000;
const gapTicks = 5;

/** The health checks on every agent, and what of their findings holds. */
export class Examiner {
  readonly #parts: ExaminerParts;
  readonly #attention = new Attention(gapMs);
  readonly #holdings = new Map<string, Holding>();
  readonly #fine = new Map<string, Examination['fine']>();
  readonly #pending = new Set<string>();
  #values: { of: Config; values: Values } | null = null;

  constructor(parts: ExaminerParts) {
    this.#parts = parts;
  }

  /** A pass over the agents begins. */
  pass(): void {
    this.#attention.pass(this.#parts.clock.nowMs());
  }

  examine(view: AgentView, { loops, words }: Pick<WatchedAgent, 'loops' | 'words'>, nowMs: number): Finding[] {
    const { clock, config, idFor, isOpen, unansweredSince } = this.#parts;
    const { agent } = view;
    const signal = completionSignal(config().judging, agent);
    const input = {
      view,
      nowMs,
      unansweredSinceMs: unansweredSince(agent),
      answerMs: config().prompt.answerSeconds * 1000,
      loops,
      completion: signal === null || words === null ? null : { signal, said: words.has(signal) },
      missedSince: (sinceMs: number) => this.#attention.missedSince(sinceMs),
    };
    const found = examine(input, this.limits);
    // Of an agent that is gone there is no later look: what holds now is the last word.
    const holding = view.reading.state === 'ended' ? new Holding() : (this.#holdings.get(agent) ?? new Holding());
    this.#holdings.set(agent, holding);
    const moment = {
      nowMs,
      monotonicMs: clock.monotonicMs(),
      gapMs: Math.max(gapMs, gapTicks * config().tickSeconds * 1000),
    };
    const { findings, pending } = holding.look(found.findings, found.coming, moment, {
      of: holdOf,
      isOpen: (check, subject) => isOpen(agent, check, subject),
    });
    this.#fine.set(agent, [...found.fine, ...pending]);
    if (pending.length > 0) this.#pending.add(agent);
    else this.#pending.delete(agent);
    return findings.map((finding) => ({ ...finding, id: idFor(agent, finding.check, finding.subject) }));
  }

  /** Read out anew only when the configuration was. */
  get limits(): Values {
    const config = this.#parts.config();
    if (this.#values?.of !== config) this.#values = { of: config, values: valuesOf(config) };
    return this.#values.values;
  }

  /** Something was seen there that has to be seen again before it is told. */
  isPending(agent: string): boolean {
    return this.#pending.has(agent);
  }

  get hasPending(): boolean {
    return this.#pending.size > 0;
  }

  /** Why the checks that told nothing told nothing. */
  fine(agent: string): Examination['fine'] {
    return this.#fine.get(agent) ?? [];
  }

  /** It is gone; why nothing more was found is still asked for as long as it is shown. */
  ended(agent: string): void {
    this.#holdings.delete(agent);
    this.#pending.delete(agent);
  }

  /** It is shown no more. */
  forget(agent: string): void {
    this.ended(agent);
    this.#fine.delete(agent);
  }
}
