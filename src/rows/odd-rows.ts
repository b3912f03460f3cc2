import type { Counters } from '../model/counters.ts';
import { keepNewest } from '../model/keep-newest.ts';

const rememberedMax = 10_000;

/** Rows of the database that are left out since Watchkeeper does not write such: each counted once, each table logged once. */
export class OddRows {
  readonly counters: Counters;
  readonly #log: (line: string) => void;
  readonly #seen = new Map<string, true>();
  readonly #logged = new Set<string>();

  constructor(counters: Counters, log: (line: string) => void) {
    this.counters = counters;
    this.#log = log;
  }

  readonly note = (table: string, row: string, why: string): void => {
    const key = `${table}\n${row}`;
    if (this.#seen.has(key)) return;
    keepNewest(this.#seen, key, true, rememberedMax);
    this.counters.add(`stored.${table}`);
    if (this.#logged.has(table)) return;
    this.#logged.add(table);
    this.#log(`a row of ${table} (${row}) is left out, as are others like it: ${why}`);
  };
}
