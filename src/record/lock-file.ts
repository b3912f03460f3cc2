import { randomBytes } from 'node:crypto';
import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readOwnText } from '../act/own-text.ts';
import type { Json } from '../model/event.ts';
import type { ProcessId } from '../model/world.ts';
import { isAlive, ownProcess } from './own-process.ts';

interface LockOwner extends ProcessId {
  /** Differs for every lock ever taken, so that a path never holds the same lock twice. */
  nonce: string;
  extra: Json;
}

export type Lock =
  | { ok: true; release(): void }
  | { ok: false; reason: 'held'; owner: LockOwner }
  | { ok: false; reason: 'unusable'; owner: null; message: string };

const pollMs = 25;

/**
 * At most one live process holds the lock file at `path`.
 *
 * A file appears whole or not at all (link of a finished file). The lock of a dead owner X is replaced only by whoever
 * holds the lock `path.over-<nonce of X>` and then still finds X in place: nobody else may move X, so nothing can come
 * between that look and the rename. A contender who dies while taking over leaves a dead lock of the same kind behind.
 */
export function acquireLock(path: string, extra: Json = null): Lock {
  const self = ownProcess();
  if (self === null) return { ok: false, reason: 'unusable', owner: null, message: '/proc cannot be read' };
  const mine: LockOwner = { ...self, nonce: randomBytes(8).toString('hex'), extra };
  const finished = `${path}.new-${mine.nonce}`;
  try {
    writeFileSync(finished, JSON.stringify(mine), { flag: 'wx', mode: 0o600 });
    return take(path, finished, mine);
  } catch (error) {
    return { ok: false, reason: 'unusable', owner: null, message: (error as Error).message };
  } finally {
    rmSync(finished, { force: true });
  }
}

/** The process that has it, can be seen from here, and lives. */
export function holderOf(path: string): number | null {
  const owner = readLock(path)?.owner ?? null;
  return owner !== null && isAlive(owner) ? owner.pid : null;
}

/** Tries again until `timeoutMs` have passed; the last answer counts. */
export async function waitForLock(path: string, timeoutMs: number, extra: Json = null): Promise<Lock> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const lock = acquireLock(path, extra);
    if (lock.ok || lock.reason !== 'held' || performance.now() >= endMs) return lock;
    await sleep(pollMs);
  }
}

function take(path: string, finished: string, mine: LockOwner): Lock {
  for (;;) {
    if (linked(finished, path)) return held(path, mine);
    const found = readLock(path);
    if (found === null) continue;
    if (found.owner !== null && isAlive(found.owner)) return { ok: false, reason: 'held', owner: found.owner };
    const guard = acquireLock(`${path}.over-${found.owner?.nonce ?? 'unreadable'}`);
    if (!guard.ok) {
      // Somebody alive is replacing the dead lock at this moment.
      if (guard.reason === 'held') return { ok: false, reason: 'held', owner: guard.owner };
      return guard;
    }
    try {
      if (readLock(path)?.text === found.text) {
        renameSync(finished, path);
        return held(path, mine);
      }
    } finally {
      guard.release();
    }
  }
}

function held(path: string, mine: LockOwner): Lock {
  return {
    ok: true,
    release() {
      if (readLock(path)?.owner?.nonce === mine.nonce) rmSync(path, { force: true });
    },
  };
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** null: no lock there. An unreadable owner is a dead one: only a power cut leaves such a file. */
function readLock(path: string): { text: string; owner: LockOwner | null } | null {
  let text: string;
  try {
    text = readOwnText(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const owner = JSON.parse(text) as LockOwner;
    const whole =
      Number.isInteger(owner.pid) && typeof owner.startTicks === 'string' && /^[0-9a-f]+$/.test(owner.nonce);
    return { text, owner: whole ? owner : null };
  } catch {
    return { text, owner: null };
  }
}
