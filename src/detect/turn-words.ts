import type { SessionFact } from '../model/session-event.ts';
import { isEmpty, lookInto } from '../model/text.ts';

const charsMax = 16_000;

/** What the agent has said in its last turn; only the end of very much. Kept in memory, never stored. */
export class TurnWords {
  #text = '';
  #isCut = false;

  take(fact: SessionFact): void {
    // A note of the client's own, such as of background work that ended, takes nothing back.
    if (fact.kind === 'prompt' && fact.origin !== 'mid-turn' && fact.origin !== 'client') {
      this.#text = '';
      this.#isCut = false;
    }
    if (fact.kind !== 'reply') return;
    this.#isCut ||= fact.isCut === true;
    if (!isEmpty(fact.text)) this.#text = `${this.#text}\n${lookInto(fact.text)}`.slice(-charsMax);
  }

  /** Also where its record was cut, for there it may have. */
  has(words: string): boolean {
    return this.#isCut || this.#text.includes(words);
  }
}
