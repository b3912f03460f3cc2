const barColumns = 30;
const drawEveryMs = 100;

/** A bar on a terminal's stderr; elsewhere nothing. */
export class Progress {
  readonly #bytes: number;
  readonly #what: string;
  readonly #shown = process.stderr.isTTY === true;
  #done = 0;
  #drawnMs = 0;
  #visible = false;

  constructor(bytes: number, files: number) {
    this.#bytes = Math.max(1, bytes);
    this.#what = `${files} record${files === 1 ? '' : 's'}, ${(bytes / 1e6).toFixed(0)} MB`;
  }

  add(bytes: number): void {
    this.#done += bytes;
    const nowMs = performance.now();
    if (!this.#shown || nowMs - this.#drawnMs < drawEveryMs) return;
    this.#drawnMs = nowMs;
    const share = Math.min(1, this.#done / this.#bytes);
    const full = '#'.repeat(Math.round(share * barColumns)).padEnd(barColumns, '.');
    process.stderr.write(`\r[${full}] ${String(Math.floor(share * 100)).padStart(3)} %  ${this.#what}\u001b[K`);
    this.#visible = true;
  }

  /** Before something else is printed. */
  clear(): void {
    if (this.#visible) process.stderr.write('\r\u001b[K');
    this.#visible = false;
  }
}
