import type { CallWords, StartedWork } from '../model/session-event.ts';
import type { SpawnEnd, SpawnedWork } from '../model/spawn.ts';
import type { UntrustedText } from '../model/text.ts';

/** What a session's record says of background work, in words the spawns share. */

/** The newest are kept: what ended long ago is in the store. */
export const spawnsKeptMax = 300;

export function workOf(started: StartedWork, about: CallWords | null, sinceMs: number): SpawnedWork<UntrustedText> {
  const { id, kind, output } = started;
  return { id, kind, output, sinceMs, label: about?.label ?? null, description: about?.description ?? null };
}

export function endOf(status: string, text: UntrustedText | null, atMs: number): SpawnEnd<UntrustedText> {
  if (status === 'failed') return { how: 'failed', atMs, text };
  return { how: status === 'killed' || status === 'stopped' ? 'stopped' : 'finished', atMs, text };
}
