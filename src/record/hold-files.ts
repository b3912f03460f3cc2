import { chmodSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, type Stats, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { readOwnText } from '../act/own-text.ts';
import { type Hold, processName } from '../model/hold.ts';
import { fail, ok, type Result } from '../model/result.ts';
import type { ProcessId } from '../model/world.ts';
import { acquireLock } from './lock-file.ts';
import { whyOthersMayMove } from './own-folder.ts';

const processId = z.strictObject({ bootId: z.string(), pid: z.number().int().positive(), startTicks: z.string() });
const holdSchema = z.strictObject({
  agent: processId,
  holder: processId,
  home: z.string(),
  does: z.enum(['act', 'tell']),
  number: z.number().int().positive(),
  renewedMs: z.number().nullable(),
});

/** Somebody else changes it at this moment, which takes no time. */
const attemptsMax = 50;
/** A round asks for all agents at once: whose folder it is has not changed since the one before. */
const checkedMs = 20;

/**
 * By the user alone, so that also a `check` of cron finds it, which has nothing of a session's environment. root has a
 * folder of its own for such things; in everybody's folder somebody else could be there first.
 */
export function holdsFolder(uid: number): string {
  return path.join(uid === 0 ? '/run' : '/tmp', `watchkeeper-${uid}`);
}

/** One file per agent process, changed only under its lock; and one per holder, by which all that it holds is renewed. */
export class HoldFiles {
  readonly folder: string;
  #usable: { atMs: number; answer: Result<void, 'unusable'> } | null = null;
  /** What was read, and how its file looked then: a hold is replaced whole, so a file that looks the same says the same. */
  readonly #known = new Map<string, { stamp: string; hold: Hold | null }>();
  /** By holder: when it said last that it lives. */
  readonly #beats = new Map<string, { atMs: number; beatMs: number }>();

  constructor(folder: string) {
    this.folder = folder;
  }

  /** The folder is ours alone: what stands in another one nobody can believe. */
  check(): Result<void, 'unusable'> {
    const nowMs = performance.now();
    if (this.#usable === null || nowMs - this.#usable.atMs > checkedMs)
      this.#usable = { atMs: nowMs, answer: this.#lookAtFolder() };
    return this.#usable.answer;
  }

  #lookAtFolder(): Result<void, 'unusable'> {
    const unusable = (why: string, fix: string) => fail('unusable', `${this.folder} ${why}`, fix);
    const remove = `remove it (\`rm -r ${this.folder}\`), as its owner or root`;
    try {
      const info = lstatSync(this.folder, { throwIfNoEntry: false }) ?? this.#make();
      if (!info.isDirectory()) return unusable('is no directory', remove);
      if (info.uid !== process.getuid?.()) return unusable(`belongs to uid ${info.uid}`, remove);
      if ((info.mode & 0o777) !== 0o700) chmodSync(this.folder, 0o700);
      const why = whyOthersMayMove(this.folder);
      return why === null ? ok(undefined) : unusable(why, 'have its folder made right');
    } catch (error) {
      return unusable(`cannot be used (${(error as Error).message})`, `make ${path.dirname(this.folder)} writable`);
    }
  }

  #make(): Stats {
    try {
      mkdirSync(this.folder, { mode: 0o700 });
    } catch (error) {
      // Another daemon of this user may have been first by a moment.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    return lstatSync(this.folder);
  }

  /** null: there is none, or nothing that anybody could have written so. */
  read(agent: ProcessId): Hold | null {
    const hold = this.#asWritten(agent);
    if (hold === null || hold.renewedMs === null) return hold;
    const beatMs = this.#beat(hold.holder);
    return beatMs > hold.renewedMs ? { ...hold, renewedMs: beatMs } : hold;
  }

  /** Whatever it holds counts as renewed then. Where it cannot be written, others take it over in time. */
  renew(holder: ProcessId, renewedMs: number): void {
    const file = this.#beatFile(holder);
    const fresh = `${file}.fresh`;
    try {
      writeFileSync(fresh, String(renewedMs), { mode: 0o600 });
      renameSync(fresh, file);
      this.#beats.delete(file);
    } catch {
      rmSync(fresh, { force: true });
    }
  }

  /** A round asks for hundreds of one holder. */
  #beat(holder: ProcessId): number {
    const file = this.#beatFile(holder);
    const nowMs = performance.now();
    const known = this.#beats.get(file);
    if (known !== undefined && nowMs - known.atMs < checkedMs) return known.beatMs;
    let beatMs = Number.NEGATIVE_INFINITY;
    try {
      const text = readPlain(file);
      if (/^[0-9]{1,15}(?:\.[0-9]{1,15})?$/.test(text)) beatMs = Number(text);
    } catch {
      // It has said nothing but when it took them.
    }
    this.#beats.set(file, { atMs: nowMs, beatMs });
    return beatMs;
  }

  #asWritten(agent: ProcessId): Hold | null {
    const file = this.#file(agent);
    const looks = looksOf(file);
    const known = this.#known.get(file);
    if (looks !== null && known?.stamp === looks.stamp) return known.hold;
    this.#known.delete(file);
    const hold = looks === null ? null : this.#parse(file, agent);
    // Changed a moment ago, it could be changed again and look the same: the times of files are coarse.
    if (looks?.isOld && looksOf(file)?.stamp === looks.stamp) this.#known.set(file, { stamp: looks.stamp, hold });
    return hold;
  }

  /** What `next` makes of it, with nobody else at it; null leaves it as it is. */
  change(agent: ProcessId, next: (found: Hold | null) => Hold | null): Result<Hold | null, 'unusable' | 'busy'> {
    const usable = this.#lookAtFolder();
    if (!usable.ok) return usable;
    const file = this.#file(agent);
    let lock = acquireLock(`${file}.lock`);
    for (let attempt = 1; !lock.ok && lock.reason === 'held' && attempt < attemptsMax; attempt += 1)
      lock = acquireLock(`${file}.lock`);
    if (!lock.ok) {
      if (lock.reason === 'held') return fail('busy', `process ${lock.owner.pid} is taking it at this moment`);
      return fail('unusable', `${this.folder} cannot be used (${lock.message})`, 'make room there');
    }
    const fresh = `${file}.fresh`;
    try {
      // Nobody loses it by what its holder said some milliseconds ago.
      this.#beats.clear();
      const hold = next(this.read(agent));
      if (hold === null) return ok(null);
      writeFileSync(fresh, JSON.stringify(hold), { mode: 0o600 });
      renameSync(fresh, file);
      return ok(hold);
    } catch (error) {
      rmSync(fresh, { force: true });
      return fail('unusable', `${this.folder} cannot be written (${(error as Error).message})`, 'make room there');
    } finally {
      lock.release();
    }
  }

  remove(agent: ProcessId): void {
    this.#removeAll(processName(agent));
  }

  /** What is left of agents that are gone, and that nobody tells of any more. */
  clean(isAlive: (process: ProcessId) => boolean): void {
    this.#known.clear();
    this.#beats.clear();
    const owners = new Map<string, ProcessId>();
    for (const name of this.#names()) {
      const [whole, pid, startTicks, bootId] = /^(\d{1,10})-(\d{1,20})-([\w-]{1,64})/.exec(name) ?? [];
      const [, ...holder] = /^lives-(\d{1,10})-(\d{1,20})-([\w-]{1,64})/.exec(name) ?? [];
      const [holderPid, holderTicks = '', holderBoot = ''] = holder;
      if (holderPid !== undefined && !isAlive({ pid: Number(holderPid), startTicks: holderTicks, bootId: holderBoot }))
        rmSync(path.join(this.folder, name), { force: true });
      if (whole !== undefined)
        owners.set(whole, { pid: Number(pid), startTicks: startTicks ?? '', bootId: bootId ?? '' });
    }
    for (const [name, agent] of owners) {
      if (isAlive(agent)) continue;
      const hold = this.read(agent);
      if (hold === null || hold.renewedMs === null || !isAlive(hold.holder)) this.#removeAll(name);
    }
  }

  #removeAll(name: string): void {
    for (const each of this.#names().filter((other) => other === name || other.startsWith(`${name}.`)))
      rmSync(path.join(this.folder, each), { force: true });
  }

  #names(): string[] {
    try {
      return readdirSync(this.folder);
    } catch {
      return [];
    }
  }

  #beatFile(holder: ProcessId): string {
    return path.join(this.folder, `lives-${processName(holder)}`);
  }

  #file(agent: ProcessId): string {
    return path.join(this.folder, processName(agent));
  }

  #parse(file: string, agent: ProcessId): Hold | null {
    try {
      const hold = holdSchema.safeParse(JSON.parse(readPlain(file)));
      return hold.success && processName(hold.data.agent) === processName(agent) ? hold.data : null;
    } catch {
      return null;
    }
  }
}

const fileBytesMax = 16 * 1024;
const oldMs = 1_000;

/** null: there is none. The last of the times nobody can set. */
function looksOf(file: string): { stamp: string; isOld: boolean } | null {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs, ctimeMs } = lstatSync(file, { bigint: true });
    return { stamp: `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`, isOld: Date.now() - Number(ctimeMs) > oldMs };
  } catch {
    return null;
  }
}

function readPlain(file: string): string {
  return readOwnText(file, ({ size }) => size <= fileBytesMax);
}
