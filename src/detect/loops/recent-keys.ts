import { highFactor, highStart, lowFactor, lowStart } from '../../model/digest.ts';

/**
 * Tells whether a key was among the last `max` to twice as many. It keeps numbers made of the keys, outside of what is
 * cleaned up again and again: every event of a run has a key, and a set of them was a tenth of what a run costs.
 */
export class RecentKeys {
  readonly #max: number;
  readonly #mask: number;
  /** Two numbers a key, both zero: free. */
  #newer: Int32Array;
  #older: Int32Array;
  #count = 0;

  constructor(max: number) {
    const places = 2 ** Math.ceil(Math.log2(max * 2));
    this.#max = max;
    this.#mask = places - 1;
    this.#newer = new Int32Array(places * 2);
    this.#older = new Int32Array(places * 2);
  }

  /** False: it is known already. */
  add(key: string): boolean {
    let low = lowStart;
    let high = highStart;
    for (let index = 0; index < key.length; index += 1) {
      const code = key.charCodeAt(index);
      low = Math.imul(low ^ code, lowFactor);
      high = Math.imul(high ^ code, highFactor);
      // The upper bits, which nothing else brings down.
      low ^= low >>> 15;
      high ^= high >>> 13;
    }
    if (low === 0 && high === 0) low = 1;
    if (this.#place(this.#older, low, high) < 0) return false;
    const place = this.#place(this.#newer, low, high);
    if (place < 0) return false;
    this.#newer[place] = low;
    this.#newer[place + 1] = high;
    this.#count += 1;
    if (this.#count === this.#max) this.#turn();
    return true;
  }

  /** Where it belongs; -1: it is there. */
  #place(table: Int32Array, low: number, high: number): number {
    for (let at = low & this.#mask; ; at = (at + 1) & this.#mask) {
      const place = at * 2;
      const ownLow = table[place];
      const ownHigh = table[place + 1];
      if (ownLow === low && ownHigh === high) return -1;
      if (ownLow === 0 && ownHigh === 0) return place;
    }
  }

  #turn(): void {
    const oldest = this.#older;
    this.#older = this.#newer;
    this.#newer = oldest.fill(0);
    this.#count = 0;
  }
}
