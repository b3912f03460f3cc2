const barColumns = 30;
const drawEveryMs = 100;

/** A bar on a terminal's stderr, also between the lines that are printed meanwhile; elsewhere nothing. */
export class Progress {
  readonly #bytes: number;
  readonly #what: string;
  readonly #shown = process.stderr.isTTY === true;
  #done = 0;
  #drawnMs = 0;
  #visible = false;

  constructor(bytes: number, what: string) {
    this.#bytes = Math.max(1, bytes);
    this.#what = `${what}, ${(bytes / 1e6).toFixed(0)} MB`;
  }

  add(bytes: number): void {
    this.reach(this.#done + bytes);
  }

  reach(bytes: number): void {
    this.#done = bytes;
    const nowMs = performance.now();
    if (!this.#shown || nowMs - this.#drawnMs < drawEveryMs) return;
    this.#drawnMs = nowMs;
    this.#draw();
  }

  /** What `tell` prints stands above the bar. */
  above(tell: () => void): void {
    const drawn = this.#visible;
    if (process.stdout.isTTY) this.clear();
    tell();
    if (drawn && !this.#visible) this.#draw();
  }

  clear(): void {
    if (this.#visible) process.stderr.write('\r\u001b[K');
    this.#visible = false;
  }

  #draw(): void {
    const share = Math.min(1, this.#done / this.#bytes);
    const full = '#'.repeat(Math.round(share * barColumns)).padEnd(barColumns, '.');
    process.stderr.write(`\r[${full}] ${String(Math.floor(share * 100)).padStart(3)} %  ${this.#what}\u001b[K`);
    this.#visible = true;
  }
}
