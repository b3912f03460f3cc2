import { oddWords } from '../decide/handoff/failure.ts';
import type { Board } from '../findings/board.ts';
import type { Found } from '../model/agent.ts';
import type { OddHandoff } from '../model/handoff.ts';
import type { Store } from '../model/store.ts';
import type { Clock } from '../model/world.ts';

interface OddParts {
  host: string;
  store: Pick<Store, 'oddHandoffs' | 'endOddHandoff'>;
  clock: Clock;
  board: Pick<Board, 'about'>;
  isElsewhere: (agent: string) => boolean;
}

interface Odd extends OddHandoff {
  sinceMs: number;
  isEnded: boolean;
}

/**
 * Open rows that are not as Watchkeeper writes them. Nothing is done by them; but an agent has one open handoff at a time, so
 * they keep it from being handed over. A person is told first, then they end, by their id alone.
 */
export class OddHandoffs {
  readonly #parts: OddParts;
  #rows: Odd[] = [];

  constructor(parts: OddParts) {
    this.#parts = parts;
  }

  /** Whether it could be read. */
  async read(): Promise<boolean> {
    const { store, host, clock } = this.#parts;
    const read = await store.oddHandoffs(host);
    if (!read.ok) return false;
    const known = new Map(this.#rows.map((row) => [row.id, row]));
    const open = read.value.map((row) => known.get(row.id) ?? { ...row, sinceMs: clock.nowMs(), isEnded: false });
    this.#rows = [...this.#rows.filter(({ isEnded }) => isEnded), ...open.filter(({ isEnded }) => !isEnded)];
    return true;
  }

  isBlocked(agent: string): boolean {
    return this.#rows.some((row) => row.agent === agent && !row.isEnded);
  }

  /** One for each agent, until a person has said that they know. */
  finding(agent: string): Found | null {
    const rows = this.#rows.filter((row) => row.agent === agent);
    const [first] = rows;
    if (first === undefined) return null;
    const text = oddWords(
      agent,
      rows.map(({ id }) => id),
    );
    return {
      ...{ check: 'handoff-failed', subject: first.id, severity: 'critical', confidence: 1, sinceMs: first.sinceMs },
      ...{ evidence: [{ source: 'watchkeeper', atMs: first.sinceMs, text }], action: 'tell a human', slots: null },
    };
  }

  async round(): Promise<void> {
    const { store, clock, board, isElsewhere } = this.#parts;
    for (const agent of new Set(this.#rows.map((row) => row.agent))) {
      if (isElsewhere(agent)) continue;
      const mine = this.#rows.filter((row) => row.agent === agent);
      const told = board.about(agent, 'handoff-failed', mine[0]?.id ?? null);
      if (told === null || (told.tells === 0 && told.ackedMs === null)) continue;
      for (const row of mine.filter(({ isEnded }) => !isEnded))
        row.isEnded = (await store.endOddHandoff(row.id, clock.nowMs())).ok;
      if (told.ackedMs !== null) this.#rows = this.#rows.filter((row) => row.agent !== agent || !row.isEnded);
    }
  }

  /** It is handed over again: these are history. */
  begun(agent: string): void {
    this.#rows = this.#rows.filter((row) => row.agent !== agent);
  }
}
