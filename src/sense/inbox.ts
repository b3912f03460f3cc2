import path from 'node:path';
import type { Counters } from '../model/counters.ts';
import type { HookInboxItem, HookOwner } from '../model/hook.ts';
import type { Files } from '../model/world.ts';

export interface InboxEntry {
  file: string;
  /** When the event was written down. */
  atMs: number;
  owner: HookOwner;
  item: HookInboxItem;
}

const bytesMax = 128 * 1024;
/** In one look; the rest waits for the next. */
const filesPerLookMax = 2_000;
/** An event of an agent that is not known yet may be the first sign of it. */
const unclaimedMs = 15_000;
const unsettledMax = 5_000;
/** A hook that was killed in the middle leaves its file under this name. */
const unfinished = /\.new$/;
const unfinishedMs = 60_000;

export interface InboxParts {
  dir: string;
  files: Files;
  counters: Counters;
  parse: (text: string) => HookInboxItem | null;
  /** More than this means that events were dropped. */
  filesMax: number;
  remove: (file: string) => void;
}

/**
 * The folder hooks write into, one file an event. A file goes once its rows are stored, so that a crash loses none; what
 * cannot be read, or belongs to nobody, goes at once or after a while.
 */
export class Inbox {
  readonly #parts: InboxParts;
  /** Read and waiting for their agent. */
  readonly #unclaimed = new Map<string, InboxEntry & { seenMs: number }>();
  /** With their agent, not stored yet. */
  readonly #handed = new Set<string>();
  /** Neither ours nor to be touched: links, folders, pipes, other users' files. */
  readonly #left = new Set<string>();

  constructor(parts: InboxParts) {
    this.#parts = parts;
  }

  get dir(): string {
    return this.#parts.dir;
  }

  /** Everything new, the oldest first; true when more is there. */
  look(nowMs: number): boolean {
    const { files, counters, dir } = this.#parts;
    const names = files.list(dir) ?? [];
    if (names.length >= this.#parts.filesMax) counters.add('inbox.full');
    this.#forgetLeft(names);
    const fresh: { name: string; atMs: number }[] = [];
    for (const name of names) {
      if (this.#unclaimed.has(name) || this.#handed.has(name) || this.#left.has(name)) continue;
      const info = files.info(path.join(dir, name));
      if (info === null) continue;
      if (info.kind !== 'file') {
        counters.add('inbox.not-regular');
        this.#left.add(name);
      } else if (!unfinished.test(name)) fresh.push({ name, atMs: info.mtimeMs });
      else if (nowMs - info.mtimeMs > unfinishedMs) this.#drop(name, 'inbox.unfinished');
    }
    fresh.sort((a, b) => a.atMs - b.atMs);
    for (const { name, atMs } of fresh.slice(0, filesPerLookMax)) this.#read(name, Math.min(atMs, nowMs), nowMs);
    this.#expire(nowMs);
    return fresh.length > filesPerLookMax;
  }

  #forgetLeft(names: readonly string[]): void {
    if (this.#left.size === 0) return;
    const there = new Set(names);
    for (const name of this.#left) if (!there.has(name)) this.#left.delete(name);
  }

  hasFor(pid: number): boolean {
    for (const { owner } of this.#unclaimed.values()) if (owner?.pid === pid) return true;
    return false;
  }

  /** What has come for this process, the oldest first. */
  claim(pid: number, startTicks: string): InboxEntry[] {
    if (this.#unclaimed.size === 0) return [];
    const own = [...this.#unclaimed].filter(
      ([, { owner }]) => owner !== null && owner.pid === pid && owner.startTicks === startTicks,
    );
    for (const [name] of own) {
      this.#unclaimed.delete(name);
      this.#handed.add(name);
    }
    return own.map(([, entry]) => entry);
  }

  /** Handed over so far; to be settled once all rows made of them are stored. */
  handed(): string[] {
    // A database that is away for hours must not fill the folder.
    for (const name of this.#handed) {
      if (this.#handed.size <= unsettledMax) break;
      this.#handed.delete(name);
      this.#drop(name, 'inbox.unsettled');
    }
    return [...this.#handed];
  }

  settle(names: string[]): void {
    for (const name of names) {
      this.#handed.delete(name);
      this.#parts.remove(path.join(this.#parts.dir, name));
    }
  }

  #read(name: string, atMs: number, nowMs: number): void {
    const { files, parse, dir } = this.#parts;
    const file = path.join(dir, name);
    const read = files.readSmall(file, bytesMax);
    if (!read.ok && read.reason !== 'too-big' && read.reason !== 'io') {
      if (read.reason !== 'missing') this.#left.add(name);
      this.#parts.counters.add(`inbox.${read.reason}`);
      return;
    }
    const item = read.ok ? parse(read.text) : null;
    if (item === null) {
      this.#drop(name, read.ok ? 'inbox.invalid' : `inbox.${read.reason}`);
      return;
    }
    const owner = item.kind === 'hook' ? item.hook.owner : item.line.owner;
    this.#unclaimed.set(name, { file: name, atMs, owner, item, seenMs: nowMs });
  }

  #expire(nowMs: number): void {
    for (const [name, entry] of this.#unclaimed) {
      if (nowMs - entry.seenMs < unclaimedMs) continue;
      this.#unclaimed.delete(name);
      this.#drop(name, 'inbox.nobody');
    }
  }

  #drop(name: string, counter: string): void {
    this.#parts.counters.add(counter);
    this.#parts.remove(path.join(this.#parts.dir, name));
  }
}
