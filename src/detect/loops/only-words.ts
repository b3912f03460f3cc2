import type { SessionFact } from '../../model/session-event.ts';
import { isEmpty } from '../../model/text.ts';

const repliesMin = 7;

/** Replies in a row, within one turn, that only say something: announced, regretted, and nothing done. */
export class OnlyWords {
  #replies = 0;
  #messageId = '';

  /** Undefined: nothing was said. */
  take(fact: SessionFact): string | undefined {
    if (fact.kind === 'tool-call' || fact.kind === 'progress' || fact.kind === 'command') this.clear();
    if (fact.kind !== 'reply' || isEmpty(fact.text)) return undefined;
    // A message is written down in several records.
    if (fact.messageId === '' || fact.messageId !== this.#messageId) this.#replies += 1;
    this.#messageId = fact.messageId;
    return this.#replies >= repliesMin ? `${this.#replies} replies in a row, and nothing done` : undefined;
  }

  clear(): void {
    this.#replies = 0;
    this.#messageId = '';
  }
}
