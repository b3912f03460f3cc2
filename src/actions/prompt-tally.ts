import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/schema.ts';
import type { AnsweredPrompts } from '../model/deeds.ts';
import type { Store } from '../model/store.ts';
import type { Clock } from '../model/world.ts';

interface TallyParts {
  host: string;
  store: Pick<Store, 'answeredPrompts'>;
  clock: Clock;
  config: () => Config;
}

/** `status` answers at once, whatever the database does. */
const patienceMs = 300;

/** How many prompts were answered in time: by the ledger, so a restart changes nothing. */
export class PromptTally {
  readonly #parts: TallyParts;
  /** null: no database has said so yet. */
  #last: AnsweredPrompts | null = null;
  #reading: Promise<void> | null = null;

  constructor(parts: TallyParts) {
    this.#parts = parts;
  }

  get last(): AnsweredPrompts | null {
    return this.#last;
  }

  /** As the ledger has it now, or a moment ago where the database takes its time. */
  async refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    await Promise.race([this.#reading, sleep(patienceMs, undefined, { ref: false })]);
  }

  async #read(): Promise<void> {
    const { host, store, clock, config } = this.#parts;
    const read = await store.answeredPrompts(host, clock.nowMs(), config().prompt.answerSeconds * 1_000);
    if (read.ok) this.#last = read.value;
  }
}
