import type { Files } from '../model/world.ts';

/** Keeps a watch on just the folders asked for. A change is a hint to look; the sweep is the truth. */
export class FolderWatches {
  readonly #files: Files;
  readonly #changed: (folder: string, name: string | null) => void;
  readonly #open = new Map<string, { close(): void }>();

  constructor(files: Files, changed: (folder: string, name: string | null) => void) {
    this.#files = files;
    this.#changed = changed;
  }

  keep(folders: ReadonlySet<string>): void {
    for (const [folder, watch] of this.#open) {
      if (folders.has(folder)) continue;
      watch.close();
      this.#open.delete(folder);
    }
    for (const folder of folders) {
      if (this.#open.has(folder)) continue;
      const watch = this.#files.watch(folder, (name) => this.#changed(folder, name));
      if (watch !== null) this.#open.set(folder, watch);
    }
  }

  /** Would a change in there be told of? */
  has(folder: string): boolean {
    return this.#open.has(folder);
  }

  close(): void {
    this.keep(new Set());
  }
}
