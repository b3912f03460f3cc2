import type { ResultSign } from '../../model/session-event.ts';

/**
 * The last few different outputs, each under a key that equal ones share: their hashes are asked for only where the
 * key is known, as they cost more than all the rest of a step.
 */
export class RecentOutputs {
  readonly #known = new Map<string, ResultSign[]>();
  readonly #order: { key: string; output: ResultSign }[] = [];
  readonly #max: number;
  #oldest = 0;

  constructor(max: number) {
    this.#max = max;
  }

  has(key: string, output: ResultSign): boolean {
    return this.#known.get(key)?.some(({ hash }) => hash === output.hash) ?? false;
  }

  /** The newest under this key. */
  last(key: string): ResultSign | undefined {
    return this.#known.get(key)?.at(-1);
  }

  add(key: string, output: ResultSign): void {
    const same = this.#known.get(key);
    const place = same?.findIndex(({ hash }) => hash === output.hash) ?? -1;
    if (same !== undefined && place >= 0) {
      same.push(...same.splice(place, 1));
      return;
    }
    if (same === undefined) this.#known.set(key, [output]);
    else same.push(output);
    if (this.#order.length < this.#max) {
      this.#order.push({ key, output });
      return;
    }
    const oldest = this.#order[this.#oldest];
    if (oldest !== undefined) this.#forget(oldest.key, oldest.output);
    this.#order[this.#oldest] = { key, output };
    this.#oldest = (this.#oldest + 1) % this.#max;
  }

  clear(): void {
    this.#known.clear();
    this.#order.length = 0;
    this.#oldest = 0;
  }

  #forget(key: string, output: ResultSign): void {
    const left = this.#known.get(key)?.filter((other) => other !== output) ?? [];
    if (left.length === 0) this.#known.delete(key);
    else this.#known.set(key, left);
  }
}
