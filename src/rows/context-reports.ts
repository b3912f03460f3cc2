import type { ContextReport } from '../model/agent.ts';
import type { Store } from '../model/store.ts';

/** What other programs have written of the agents' contexts, as of the last time that the database said so. */
export class ContextReports {
  readonly #load: () => ReturnType<Store['contextReports']>;
  #reports: ReadonlyMap<string, ContextReport> = new Map();
  #reading: Promise<void> | null = null;

  constructor(store: Pick<Store, 'contextReports'>, host: string) {
    this.#load = () => store.contextReports(host);
  }

  /** One query at a time; nobody waits for it. */
  refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    const read = await this.#load();
    if (read.ok) this.#reports = read.value;
  }

  of(agent: string): ContextReport | null {
    return this.#reports.get(agent) ?? null;
  }
}
