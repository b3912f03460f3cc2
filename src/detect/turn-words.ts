import type { SessionFact } from '../model/session-event.ts';

const charsMax = 16_000;

/** What the agent has said in its last turn; only the end of very much. Kept in memory, never stored. */
export class TurnWords {
  #text = '';

  take(fact: SessionFact): void {
    // A note of the client's own, such as of background work that ended, takes nothing back.
    if (fact.kind === 'prompt' && fact.origin !== 'mid-turn' && fact.origin !== 'client') this.#text = '';
    if (fact.kind === 'reply' && fact.text !== '') this.#text = `${this.#text}\n${fact.text}`.slice(-charsMax);
  }

  has(words: string): boolean {
    return this.#text.includes(words);
  }
}
