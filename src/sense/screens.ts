import type { ScreenReading, ScreenSource } from '../clients/client.ts';
import type { Clock } from '../model/world.ts';

export interface ScreenSign {
  /** null: no rule knows this screen. */
  reading: ScreenReading | null;
  /** Since when it has shown the same. */
  sinceMs: number;
  atMs: number;
  /** When the row of the turn was last seen to change, and when the counts in it; null: not yet. */
  drawnMs: number | null;
  countedMs: number | null;
}

interface Watched {
  sign: ScreenSign | null;
  askedMs: number;
  asking: boolean;
}

interface ScreensParts {
  clock: Clock;
  capture: (socket: string, pane: string) => Promise<string | null>;
  /** A pane shows something else than before: look soon. */
  changed: () => void;
}

const forgetMs = 60_000;

/** Pictures of the panes whose agents' own records do not say enough. Nothing is captured that nobody asks for. */
export class Screens {
  readonly #parts: ScreensParts;
  readonly #watched = new Map<string, Watched>();

  constructor(parts: ScreensParts) {
    this.#parts = parts;
  }

  /** The last picture, and a new one for the next look. */
  look(source: ScreenSource, socket: string, pane: string, everyMs: number): ScreenSign | null {
    const nowMs = this.#parts.clock.nowMs();
    const key = `${socket} ${pane}`;
    const watched = this.#watched.get(key) ?? { sign: null, askedMs: 0, asking: false };
    this.#watched.set(key, watched);
    if (!watched.asking && Math.abs(nowMs - watched.askedMs) >= everyMs) {
      watched.asking = true;
      watched.askedMs = nowMs;
      void this.#ask(source, socket, pane, watched);
    }
    for (const [other, { askedMs }] of this.#watched) if (nowMs - askedMs > forgetMs) this.#watched.delete(other);
    return watched.sign;
  }

  async #ask(source: ScreenSource, socket: string, pane: string, watched: Watched): Promise<void> {
    const text = await this.#parts.capture(socket, pane).catch(() => null);
    watched.asking = false;
    const atMs = this.#parts.clock.nowMs();
    const reading = text === null ? null : source.read(text);
    const same = watched.sign !== null && watched.sign.reading?.shows === reading?.shows;
    const before = watched.sign;
    const [was, is] = [before?.reading?.turn, reading?.turn];
    const both = was !== undefined && was !== null && is !== undefined && is !== null;
    watched.sign = {
      reading,
      atMs,
      sinceMs: same ? (before?.sinceMs ?? atMs) : atMs,
      drawnMs: both && was.text !== is.text ? atMs : (before?.drawnMs ?? null),
      countedMs: both && was.counts !== is.counts ? atMs : (before?.countedMs ?? null),
    };
    if (!same) this.#parts.changed();
  }
}
