import { type ContextAnswer, parseContextAnswer } from '../decide/context-answer.ts';
import type { Action, ActionOutcome, Trigger } from '../model/action.ts';
import { keepNewest } from '../model/keep-newest.ts';
import type { SessionEvent } from '../model/session-event.ts';
import type { Store } from '../model/store.ts';
import { isEmpty, shown, type UntrustedText } from '../model/text.ts';
import type { Clock } from '../model/world.ts';

export interface Answer {
  text: string;
  ms: number;
}

interface Followed {
  action: Action;
  tag: string;
  /** The tag has been seen in a turn of its own: what the model says now is the answer. */
  turnSinceMs: number | null;
  /** The model has begun to do something about it. */
  reacted: boolean;
  said: UntrustedText | null;
  /** null: the turn ended without one. */
  answer: Promise<Answer | null>;
  answered(answer: Answer | null): void;
  /** The ledger has the delivery's outcome; what came of it is written after. */
  concluded: Promise<void>;
}

interface AnswerParts {
  clock: Clock;
  conclude: Store['conclude'];
  /** A prompt of ours was answered. `context`: what it was asked for, where it was that and makes sense. */
  answered: (action: Action, context: ContextAnswer | null, atMs: number) => void;
}

const followedMax = 1_000;
/** What the clocks of two writers may differ by; the tag itself is nobody else's. */
export const clocksMs = 2_000;

/** What came of our prompts once they arrived: who reacted when, and what the model said. */
export class Answers {
  readonly #parts: AnswerParts;
  readonly #followed = new Map<string, Followed>();

  constructor(parts: AnswerParts) {
    this.#parts = parts;
  }

  follow(action: Action, concluded: Promise<void>): void {
    const tag = tagIn(action);
    if (tag === null) return;
    let answered: Followed['answered'] = () => {};
    const answer = new Promise<Answer | null>((resolve) => {
      answered = resolve;
    });
    const followed = { action, tag, turnSinceMs: null, reacted: false, said: null, answer, answered, concluded };
    keepNewest(this.#followed, action.id, followed, followedMax);
  }

  forget({ id }: Action): void {
    this.#followed.delete(id);
  }

  /** null: none is to be expected. */
  to({ id }: Action): Promise<Answer | null> | null {
    return this.#followed.get(id)?.answer ?? null;
  }

  /** Who wanted the prompt with this tag; null: it is over, or an earlier run's. */
  promptedBy(tag: string): { trigger: Trigger; findings: readonly string[] } | null {
    for (const { action, tag: own } of this.#followed.values()) {
      if (own === tag) return { trigger: action.trigger, findings: findingsOf(action) };
    }
    return null;
  }

  /** Since when a prompt has been waiting for any reaction of this agent. */
  unansweredSince(agent: string): number | null {
    for (const { action, turnSinceMs, reacted } of this.#followed.values())
      if (action.agent === agent && turnSinceMs !== null && !reacted) return turnSinceMs;
    return null;
  }

  /** Everything the agents' own records say passes here. */
  told(agent: string, event: SessionEvent): void {
    const { fact, atMs } = event;
    for (const followed of this.#followed.values()) {
      if (followed.action.agent !== agent) continue;
      if (fact.kind === 'prompt') {
        const isIt = fact.tags.includes(followed.tag) && atMs >= followed.action.atMs - clocksMs;
        if (isIt) followed.turnSinceMs = atMs;
      } else if (fact.kind !== 'queued' && followed.turnSinceMs !== null) this.#take(followed, event);
    }
  }

  /** The answer is what the model says last in the turn the prompt began. An error is no answer. */
  #take(followed: Followed, { fact, atMs }: SessionEvent): void {
    const ms = Math.max(0, atMs - (followed.turnSinceMs ?? atMs));
    if (fact.kind === 'reply' && !isEmpty(fact.text)) followed.said = fact.text;
    const over = (fact.kind === 'reply' && fact.ends) || fact.kind === 'turn-end';
    const answer = over && followed.said !== null ? { text: shown(followed.said, 4_000), ms } : null;
    if (!followed.reacted && (fact.kind === 'reply' || fact.kind === 'tool-call')) {
      followed.reacted = true;
      // A turn may go on for hours: that it was taken up is on record by then. Read again after a restart it is the same row.
      if (answer === null) this.#write(followed, { atMs, outcome: 'reacted', reason: null, proof: { reacted_ms: ms } });
    }
    if (answer !== null) {
      const context = asksForContext(followed.action) ? parseContextAnswer(answer.text) : null;
      this.#finish(followed, 'answered', null, answer, context);
      this.#parts.answered(followed.action, context, atMs);
    } else if (fact.kind === 'api-error') this.#finish(followed, 'failed-by-service', shown(fact.error, 200), null);
    else if (fact.kind === 'interrupted') this.#finish(followed, 'interrupted', null, null);
  }

  #finish(
    followed: Followed,
    outcome: string,
    reason: string | null,
    answer: Answer | null,
    context: ContextAnswer | null = null,
  ) {
    this.#followed.delete(followed.action.id);
    const proof =
      answer === null
        ? null
        : { answer: answer.text, answer_ms: answer.ms, context: context === null ? null : { ...context } };
    this.#write(followed, { atMs: this.#parts.clock.nowMs(), outcome, reason, proof });
    followed.answered(answer);
  }

  #write({ action, concluded }: Followed, row: Omit<ActionOutcome, 'actionId'>): void {
    void concluded.then(() => this.#parts.conclude({ actionId: action.id, ...row }));
  }
}

export function tagIn({ intent }: Action): string | null {
  return typeof intent.tag === 'string' ? intent.tag : null;
}

/** Only to that question an answer is one: a figure in any other may be of anything. */
function asksForContext({ intent }: Action): boolean {
  return intent.asks === 'context';
}

/** One prompt may be about several. */
export function findingsOf({ finding, intent }: Action): string[] {
  if (Array.isArray(intent.findings)) return intent.findings.filter((id) => typeof id === 'string');
  return finding === null ? [] : [finding];
}
