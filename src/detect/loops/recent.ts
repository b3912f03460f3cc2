/**
 * The last few different values. A plain Set that forgets its oldest has to step over all it forgot before, each time;
 * this costs the same however long it goes on.
 */
export class Recent {
  readonly #known = new Set<string>();
  readonly #order: string[] = [];
  readonly #max: number;
  #oldest = 0;

  constructor(max: number) {
    this.#max = max;
  }

  has(value: string): boolean {
    return this.#known.has(value);
  }

  /** False: it is known already. */
  add(value: string): boolean {
    const before = this.#known.size;
    this.#known.add(value);
    if (this.#known.size === before) return false;
    if (this.#order.length < this.#max) {
      this.#order.push(value);
      return true;
    }
    this.#known.delete(this.#order[this.#oldest] ?? '');
    this.#order[this.#oldest] = value;
    this.#oldest = (this.#oldest + 1) % this.#max;
    return true;
  }

  clear(): void {
    this.#known.clear();
    this.#order.length = 0;
    this.#oldest = 0;
  }
}

/** The oldest entry goes when there is no more room. */
export function keepNewest(entries: Map<string, unknown>, max: number): void {
  if (entries.size <= max) return;
  const oldest = entries.keys().next().value;
  if (oldest !== undefined) entries.delete(oldest);
}
