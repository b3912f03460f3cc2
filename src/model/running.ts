/** Work that was begun and that nobody waits for, but at the end. */
export class Running {
  readonly #works = new Set<Promise<void>>();
  readonly #failed: (error: unknown) => void;

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  begin(work: Promise<unknown>): void {
    const tracked: Promise<void> = work
      .then(() => {})
      .catch(this.#failed)
      .finally(() => this.#works.delete(tracked));
    this.#works.add(tracked);
  }

  /** Until everything begun is done, and what that began. */
  async settled(): Promise<void> {
    while (this.#works.size > 0) await Promise.all(this.#works);
  }
}
