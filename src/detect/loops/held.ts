import type { CheckName } from '../../model/check.ts';

/** `from` is where it began, `index` where it was told. */
export interface Trouble {
  check: CheckName;
  from: number;
  index: number;
  atMs: number;
  sinceMs: number;
  text: string;
}

interface Place {
  index: number;
  atMs: number;
}

/** The same diagnosis on two looks, before anything is said. */
const readingsMin = 2;
/** Looks without the trouble, before it is over. */
const calmLooks = 5;

/** One check's word over time: said after two readings, taken back after five calm ones. */
export class Held {
  readonly name: CheckName;
  open: Trouble | null = null;
  readonly #held: Place[] = [];
  readonly #opened: (trouble: Trouble) => void;
  readonly #closed: (trouble: Trouble, index: number) => void;
  #calm = 0;

  constructor(name: CheckName, opened: (trouble: Trouble) => void, closed: (trouble: Trouble, index: number) => void) {
    this.name = name;
    this.#opened = opened;
    this.#closed = closed;
  }

  hold({ index, atMs }: Place, text: string): void {
    this.#calm = 0;
    if (this.open !== null) return;
    this.#held.push({ index, atMs });
    const [first] = this.#held;
    if (first === undefined || this.#held.length < readingsMin) return;
    this.open = { check: this.name, from: first.index, index, atMs, sinceMs: first.atMs, text };
    this.#opened(this.open);
  }

  calm({ index }: Place): void {
    this.#calm += 1;
    if (this.#calm < calmLooks) return;
    this.forget();
    this.#end(index);
  }

  /** What was seen so far counts no more. */
  forget(): void {
    this.#held.length = 0;
  }

  clear(index: number): void {
    this.forget();
    this.#calm = 0;
    this.#end(index);
  }

  #end(index: number): void {
    if (this.open !== null) this.#closed(this.open, index);
    this.open = null;
  }
}
