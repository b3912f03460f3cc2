import path from 'node:path';
import type { SessionFacts } from '../detect/session.ts';
import type { SpawnEnd, SpawnSign, SpawnSigns } from '../model/spawn.ts';
import { shown, type UntrustedText } from '../model/text.ts';
import type { SubagentSign } from '../sense/subagents.ts';

const idCharsMax = 100;
const wordsCharsMax = 300;

interface Place {
  sessionId: string | null;
  /** When the client was started: what its session began under an earlier one went with that. */
  sinceMs: number;
  /** Where the client's subagents write; null: it keeps no records of them. */
  subagents: { folder: string; fileOf: (id: string) => string } | null;
}

/** What an agent's own records say of its background work, made safe to store and to show. */
export function spawnSigns(
  facts: SessionFacts,
  subagents: ReadonlyMap<string, SubagentSign>,
  place: Place,
): SpawnSigns {
  const ends = new Map<string, SpawnEnd>();
  for (const [id, end] of facts.spawnEnds) ends.set(shown(id, idCharsMax), { ...end, text: clean(end.text) });
  const works: SpawnSign[] = [];
  for (const work of facts.spawned.values()) {
    if (work.sinceMs < place.sinceMs) continue;
    const id = shown(work.id, idCharsMax);
    const sign = subagents.get(work.id);
    // Its note may be lost, or come to a session that is not read.
    if (sign?.finished && !ends.has(id)) {
      const how = sign.error === null ? 'finished' : 'failed';
      ends.set(id, { how, atMs: sign.lastActivityMs, text: clean(sign.error) });
    }
    works.push({
      id,
      kind: work.kind,
      label: clean(work.label),
      description: clean(work.description),
      sinceMs: work.sinceMs,
      output:
        work.kind === 'shell'
          ? work.output
          : place.subagents !== null && isPlain(work.id)
            ? path.join(place.subagents.folder, place.subagents.fileOf(work.id))
            : null,
      callOpen: (sign?.tool ?? null) !== null,
      error: clean(sign?.error ?? null),
    });
  }
  return { sessionId: place.sessionId, works, ends, subagentFolder: place.subagents?.folder ?? null };
}

/** The id becomes part of a path. */
function isPlain(id: string): boolean {
  return /^[\w-]{1,80}$/.test(id);
}

function clean(text: UntrustedText | null): string | null {
  return text === null ? null : shown(text, wordsCharsMax);
}
