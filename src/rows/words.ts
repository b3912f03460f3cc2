import type { Home } from '../home/home.ts';
import { leaveWord, removeWord, type Word, wordsLeft } from '../home/words.ts';
import type { Action } from '../model/action.ts';
import { keepNewest } from '../model/keep-newest.ts';
import type { Store } from '../model/store.ts';
import { storable } from '../model/text.ts';
import type { Files } from '../model/world.ts';

interface Parts {
  host: string;
  home: Home;
  files: Pick<Files, 'list' | 'readSmall'>;
  store: Pick<Store, 'storeWord'>;
  failed: (error: unknown) => void;
}

const wordsMax = 100;

/** What people said about Watchkeeper itself, on its way into the ledger. It holds at once; its row may wait. */
export class Words {
  readonly #parts: Parts;
  /** Also where no disk takes them. */
  readonly #heard = new Map<string, Word>();
  #storing: Promise<void> | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  say(word: Word): void {
    keepNewest(this.#heard, word.id, word, wordsMax);
    leaveWord(this.#parts.home, word);
    void this.store();
  }

  /** Whatever waits, also what was said while no daemon was there. */
  store(): Promise<void> {
    this.#storing ??= this.#storeAll()
      .catch(this.#parts.failed)
      .finally(() => {
        this.#storing = null;
      });
    return this.#storing;
  }

  async #storeAll(): Promise<void> {
    const { home, host, files, store, failed } = this.#parts;
    for (;;) {
      const word = this.#heard.values().next().value ?? wordsLeft(home, files)[0];
      if (word === undefined) return;
      const stored = await store.storeWord(rowOf(word, host));
      if (!stored.ok && stored.reason === 'unavailable') return;
      // It would be refused again.
      if (!stored.ok) failed(new Error(`a word was not stored: ${stored.message}`));
      this.#heard.delete(word.id);
      removeWord(home, word);
    }
  }
}

function rowOf({ id, atMs, kind, by, about }: Word, host: string): Action {
  const said = Object.entries(about).map(([name, value]) => [
    name,
    typeof value === 'string' ? storable(value) : value,
  ]);
  const intent = { by, ...(Object.fromEntries(said) as Action['intent']) };
  return { id, atMs, host, agent: null, kind, trigger: 'human', intent, finding: null };
}
