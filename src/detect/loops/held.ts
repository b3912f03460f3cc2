/** `from` is where it began, `index` where it was told. */
export interface Trouble<Name extends string> {
  check: Name;
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
export class Held<Name extends string> {
  readonly name: Name;
  open: Trouble<Name> | null = null;
  readonly #held: Place[] = [];
  readonly #opened: (trouble: Trouble<Name>) => void;
  readonly #closed: (trouble: Trouble<Name>, index: number) => void;
  #calm = 0;

  constructor(
    name: Name,
    opened: (trouble: Trouble<Name>) => void,
    closed: (trouble: Trouble<Name>, index: number) => void,
  ) {
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
