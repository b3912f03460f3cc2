import type { CallSign, SessionFact } from '../../model/session-event.ts';
import { isEmpty } from '../../model/text.ts';
import { type Silent, silenceMaxMs, silentIn } from '../checks/stalled-turn.ts';
import { answerMaxMs } from '../checks/waiting-human.ts';
import type { Values } from '../thresholds.ts';

export interface SilenceEnd {
  check: 'stalled-turn' | 'waiting-human';
  text: string;
  /** When the silence becomes too long. */
  dueMs: number;
  sinceMs: number;
}

const openMax = 500;

/**
 * How long a run may be silent from here. Counted only while a turn is open: of 252 silences over 15 minutes 200 came
 * after its end. A call that returns at once, and does not, waits for a person: of 30 long silences in an open turn 29 were that.
 */
export class Silence {
  readonly #maxMs: Readonly<Record<Silent | 'waiting', number>>;
  readonly #calls = new Map<string, { tool: string; sign: CallSign | null }>();
  /** The model's turn: it has got a prompt or a result and owes a word. */
  #owes = false;
  #lastMs = Number.NaN;
  readonly #shortestMs: number;

  constructor(values: Values) {
    const limits = values as Parameters<typeof silenceMaxMs>[1] & Parameters<typeof answerMaxMs>[0];
    const of = (silent: Silent) => silenceMaxMs(silent, limits);
    this.#maxMs = {
      ...{ thinking: of('thinking'), tool: of('tool'), mcp: of('mcp'), subagent: of('subagent') },
      waiting: answerMaxMs(limits),
    };
    this.#shortestMs = Math.min(...Object.values(this.#maxMs));
  }

  take(fact: SessionFact, side: boolean, atMs: number): void {
    // A retry is the client's own, and what is queued is a person's: the agent itself is as silent as before.
    if (fact.kind === 'retry' || fact.kind === 'queued' || fact.kind === 'cost') return;
    this.#lastMs = atMs;
    if (side) return;
    switch (fact.kind) {
      case 'prompt':
        if (fact.origin !== 'mid-turn') this.#calls.clear();
        this.#owes = true;
        return;
      case 'tool-call':
        this.#owes = false;
        if (this.#calls.size < openMax) this.#calls.set(fact.id, { tool: fact.tool, sign: fact.sign ?? null });
        return;
      case 'tool-result':
        // One that was forgotten, as by a compaction, opens nothing again.
        if (this.#calls.delete(fact.id) && this.#calls.size === 0) this.#owes = true;
        return;
      case 'reply':
        // Its last word may be the turn's end; older records do not say.
        this.#owes = isEmpty(fact.text) && !fact.ends;
        if (fact.ends) this.#calls.clear();
        return;
      case 'turn-end':
      case 'api-error':
      case 'interrupted':
      case 'command':
      case 'unknown-command':
      case 'compacted':
        this.#calls.clear();
        this.#owes = false;
        return;
      case 'request':
      case 'progress':
      case 'background-ended':
        return;
    }
  }

  /** The clock jumped: what was before is no silence. */
  passOver(atMs: number): void {
    this.#lastMs = atMs;
  }

  get open(): boolean {
    return this.#owes || this.#calls.size > 0;
  }

  /** When the present silence was too long, if that was before this moment; null: it may last. */
  due(nowMs: number): SilenceEnd | null {
    const sinceMs = this.#lastMs;
    // Nearly always: asked at every event.
    if (!(nowMs - sinceMs > this.#shortestMs) || !this.open) return null;
    const end = this.#end(sinceMs);
    return end.dueMs < nowMs ? end : null;
  }

  #end(sinceMs: number): SilenceEnd {
    if (this.#calls.size === 0) {
      const text = 'the model is silent';
      return { check: 'stalled-turn', text, dueMs: sinceMs + this.#maxMs.thinking, sinceMs };
    }
    const ends = [...this.#calls.values()].map(({ tool, sign }) => this.#budget(tool, sign));
    const first = ends.reduce((a, b) => (b.budgetMs < a.budgetMs ? b : a));
    return { check: first.check, text: first.text, dueMs: sinceMs + first.budgetMs, sinceMs };
  }

  #budget(tool: string, sign: CallSign | null): { check: SilenceEnd['check']; text: string; budgetMs: number } {
    const { waiting } = this.#maxMs;
    if (sign?.act === 'ask') return { check: 'waiting-human', text: `${tool} has no answer`, budgetMs: waiting };
    if (sign?.quick)
      return {
        check: 'waiting-human',
        text: `${tool} would return at once if it were allowed, and has not`,
        budgetMs: waiting,
      };
    const silent = sign?.act === 'delegate' ? 'subagent' : silentIn(tool);
    return { check: 'stalled-turn', text: `${tool} is silent`, budgetMs: this.#maxMs[silent] };
  }
}
