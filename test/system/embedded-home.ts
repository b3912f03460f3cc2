import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { canonicalHome, type EmbeddedPlace, readPlace, rootOf } from '../../src/record/embedded/place.ts';
import { clusterProcesses, signal } from '../../src/record/embedded/postmaster.ts';
import { stopEmbedded } from '../../src/record/embedded/server.ts';

/** A private directory that is to hold nothing but this home, which does not exist yet. */
export function newHome(name = 'home'): string {
  return path.join(mkdtempSync(path.join(os.tmpdir(), 'wk-test-')), name);
}

export async function until(what: string, condition: () => boolean | Promise<boolean>, timeoutMs = 20_000) {
  const endMs = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() >= endMs) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await sleep(10);
  }
}

/** Stops the home's server, removes all its files, and throws if a process of it is left after a proper stop. */
export async function discardHome(home: string): Promise<void> {
  const place = readPlace(canonicalHome(home));
  const stopped = await stopEmbedded(home);
  try {
    if (place !== null) await noneLeft(place);
    if (!stopped.ok) throw new Error(stopped.message);
  } finally {
    if (place !== null) {
      rmSync(rootOf(place), { recursive: true, force: true });
      rmSync(place.socketDir, { recursive: true, force: true });
    }
    rmSync(path.dirname(home), { recursive: true, force: true });
  }
}

async function noneLeft(place: EmbeddedPlace): Promise<void> {
  try {
    await until('the server has no process left', () => clusterProcesses(place).length === 0);
  } catch (error) {
    for (const left of clusterProcesses(place)) signal(left, 'SIGKILL');
    throw error;
  }
}
