import type { RunEvent } from '../../model/run-event.ts';
import type { TokenUsage } from '../../model/session-event.ts';

/** What one request to the model took. */
export interface Spent {
  /** All tokens of the request: new ones, and those read from or written to the cache. */
  input: number;
  cacheRead: number;
  cacheCreate: number;
  /** Weighted by price, in tokens of plain input. */
  units: number;
  /** What was newly read or written, whatever the cache did. */
  effort: number;
  /** Nothing could be in the cache: the first one, another model, a pause longer than the cache lives. */
  cold: boolean;
}

/** What the tokens cost against plain input; the same for all models that report a cache. */
const price = { cacheRead: 0.1, cacheCreate: 1.25, output: 5 };
/** No window is that large: such a figure is garbage. */
const tokensMax = 10_000_000;
const cacheLivesMs = 5 * 60_000;

interface Told {
  id: string;
  model: string;
  usage: TokenUsage;
  atMs: number;
}

/** One message is several records with the same figures: it is counted once, when something else follows. */
export class Spending {
  #told: Told | null = null;
  #last: { id: string; model: string; input: number; atMs: number } | null = null;

  take({ fact, atMs }: Pick<RunEvent, 'fact' | 'atMs'>): Spent | null {
    if (fact.kind === 'reply') {
      const { messageId: id, model, usage } = fact;
      if (usage === null || !isPlausible(usage) || (id !== '' && id === this.#last?.id)) return null;
      const same = id !== '' && id === this.#told?.id;
      const before = same ? null : this.#count();
      this.#told = { id, model, usage, atMs };
      return before;
    }
    if (fact.kind === 'tool-call' || fact.kind === 'progress' || fact.kind === 'request') return null;
    const spent = this.#count();
    if (fact.kind === 'compacted') this.#last = null;
    return spent;
  }

  #count(): Spent | null {
    const told = this.#told;
    this.#told = null;
    if (told === null) return null;
    const { cacheRead, cacheCreate, output } = told.usage;
    const input = told.usage.input + cacheRead + cacheCreate;
    const last = this.#last;
    this.#last = { id: told.id, model: told.model, input, atMs: told.atMs };
    return {
      input,
      cacheRead,
      cacheCreate,
      units: told.usage.input + cacheRead * price.cacheRead + cacheCreate * price.cacheCreate + output * price.output,
      effort: output + (last === null ? 0 : Math.max(0, input - last.input)),
      cold: last === null || last.model !== told.model || told.atMs - last.atMs > cacheLivesMs,
    };
  }
}

function isPlausible({ input, cacheRead, cacheCreate, output }: TokenUsage): boolean {
  const figures = [input, cacheRead, cacheCreate, output];
  return figures.every((figure) => figure >= 0 && figure <= tokensMax) && input + cacheRead + cacheCreate > 0;
}
