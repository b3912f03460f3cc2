import type { SessionFact } from '../../model/session-event.ts';
import { missingText } from '../checks/completion-missing.ts';
import { TurnWords } from '../turn-words.ts';

export interface CompletionLimits {
  signal: string;
  /** The client continues by itself after a task's note or a stop hook: that chance comes first. */
  afterMs: number;
}

export interface MissingEnd {
  index: number;
  text: string;
  dueMs: number;
  sinceMs: number;
}

interface TurnEnd {
  index: number;
  sinceMs: number;
  /** From then on nothing ran any more. */
  quietMs: number;
  isTold: boolean;
}

const backgroundMax = 1_000;

/** On record what `completion-missing` is live: a turn that ended well, without the word for "done" that was agreed on. */
export class Completion {
  readonly #limits: CompletionLimits;
  readonly #words = new TurnWords();
  readonly #background = new Set<string>();
  #isOpen = false;
  #end: TurnEnd | null = null;

  constructor(limits: CompletionLimits) {
    this.#limits = limits;
  }

  /** Once for each turn, if its time was up before this moment. */
  due(nowMs: number): MissingEnd | null {
    const { signal, afterMs } = this.#limits;
    const end = this.#end;
    if (end === null || end.isTold || this.#background.size > 0 || this.#words.has(signal)) return null;
    const dueMs = end.quietMs + afterMs;
    if (!(dueMs <= nowMs)) return null;
    end.isTold = true;
    return { index: end.index, text: missingText(signal), dueMs, sinceMs: end.sinceMs };
  }

  /** true: whatever ended before is going on, or ended anew. */
  take(fact: SessionFact, index: number, atMs: number): boolean {
    this.#words.take(fact);
    const before = this.#end;
    this.#fold(fact, index, atMs);
    return before !== null && this.#end !== before;
  }

  #fold(fact: SessionFact, index: number, atMs: number): void {
    switch (fact.kind) {
      case 'reply':
        this.#goesOn();
        if (fact.ends) this.#ends(index, atMs);
        return;
      case 'turn-end':
        if (this.#isOpen) this.#ends(index, atMs);
        return;
      case 'prompt':
      case 'tool-call':
        this.#goesOn();
        return;
      case 'api-error':
      case 'interrupted':
        // Its end is recorded as well, but it did not end well.
        this.#isOpen = false;
        this.#end = null;
        return;
      case 'tool-result':
        if (fact.started !== null && this.#background.size < backgroundMax) this.#background.add(fact.started.id);
        return;
      case 'background-ended':
        this.#background.delete(fact.id);
        if (this.#end !== null) this.#end.quietMs = atMs;
        return;
      default:
        return;
    }
  }

  #goesOn(): void {
    this.#isOpen = true;
    this.#end = null;
  }

  #ends(index: number, atMs: number): void {
    this.#isOpen = false;
    this.#end = { index, sinceMs: atMs, quietMs: atMs, isTold: false };
  }
}
