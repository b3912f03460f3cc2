import type { Log } from '../home/log.ts';
import type { Inbox } from '../sense/inbox.ts';
import type { Database } from './database.ts';
import type { Journal } from './journal.ts';

interface SaverParts {
  database: Database;
  journal: Journal;
  inbox: Inbox;
  log: Log;
  notice: (level: 'info' | 'warn', line: string) => void;
  failed: (what: string, error: unknown) => void;
}

const retryMs = 2_000;
const lastFlushMs = 5_000;

/** Brings what waits into the database, and mends the database when it is away. */
export class Saver {
  readonly #parts: SaverParts;
  #saving: Promise<void> | null = null;
  #nextTryMs = 0;
  #down = false;
  #why = '';
  #ending = false;

  constructor(parts: SaverParts) {
    this.#parts = parts;
  }

  get isDown(): boolean {
    return this.#down;
  }

  /** Why rows wait; null: the database takes them. */
  get away(): string | null {
    return this.#down ? this.#why : null;
  }

  /** One at a time; what comes meanwhile is taken along or waits for the next. */
  save(): Promise<void> {
    this.#saving ??= this.#saveOnce()
      .catch((error) => this.#parts.failed('saving', error))
      .finally(() => {
        this.#saving = null;
      });
    return this.#saving;
  }

  /** The last rows, as far as that does not take too long. */
  async end(): Promise<void> {
    this.#ending = true;
    // A database that is being started at this moment would be left behind.
    await this.#saving;
    const late = new Promise((resolve) => setTimeout(resolve, lastFlushMs).unref());
    await Promise.race([this.#flush(), late]);
  }

  async #saveOnce(): Promise<void> {
    const { database, journal, notice } = this.#parts;
    if (this.#down && performance.now() < this.#nextTryMs) return;
    const gone = database.isGone();
    if (!gone && (await this.#flush())) {
      if (this.#down) notice('info', 'the database is back');
      this.#down = false;
      return;
    }
    const why = gone ? 'its server is gone' : journal.failure;
    this.#why = why ?? 'it does not answer';
    if (!this.#down) notice('warn', `the database is away (${why}); rows wait`);
    this.#down = true;
    const mended = this.#ending ? null : await database.ensure();
    this.#nextTryMs = performance.now() + (gone && mended?.ok !== false ? 0 : retryMs);
    if (mended?.ok === false) this.#why = mended.message;
    if (mended?.ok === false) this.#parts.log.write('error', `the database does not start: ${mended.message}`);
  }

  async #flush(): Promise<boolean> {
    const { journal, inbox } = this.#parts;
    const handed = inbox.handed();
    const written = await journal.flush();
    if (written) inbox.settle(handed);
    return written;
  }
}
