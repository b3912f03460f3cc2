import type { SpawnEnd, SpawnStatus } from '../model/spawn.ts';

/**
 * How background work is doing. Its end is told by the client or by `spawn-track`; until then the growth of its output
 * counts, and silence alone never means that it failed.
 *
 *   running ⇄ stalled ⇄ abandoned       by silence, and back with the next sign
 *   any of them → finished | failed     by a word
 */
export interface SpawnFacts {
  end: SpawnEnd | null;
  /** An output file was given. */
  visible: boolean;
  /** Why the output cannot be looked at. */
  problem: string | null;
  quietMs: number;
  /** The last line of its output reads like a failure. */
  failureLine: string | null;
  /** Its own tool call waits for a permission. */
  waiting: boolean;
  /** The process it ran in is gone. */
  lost: boolean;
  sharedWith: readonly string[];
}

export interface SpawnLimits {
  stallMs: number;
  abandonMs: number;
}

export interface SpawnVerdict {
  status: SpawnStatus;
  reason: string | null;
}

/** An output that ends like a failure is asked about after half the time. */
function stallLimitMs(facts: Pick<SpawnFacts, 'failureLine'>, limits: SpawnLimits): number {
  return facts.failureLine === null ? limits.stallMs : limits.stallMs / 2;
}

export function judgeSpawn(facts: SpawnFacts, limits: SpawnLimits): SpawnVerdict {
  const { end, problem, quietMs, failureLine } = facts;
  if (end !== null) {
    const text = end.text ?? (end.how === 'stopped' ? 'it was stopped' : null);
    return { status: end.how === 'finished' ? 'finished' : 'failed', reason: text };
  }
  if (facts.lost) return { status: 'abandoned', reason: 'it went with its parent' };
  const shared = facts.sharedWith.length === 0 ? null : `shares its output file with ${facts.sharedWith.join(', ')}`;
  const reason = [problem, failureLine === null ? null : `its output ends with: ${failureLine}`, shared]
    .filter((part) => part !== null)
    .join('; ');
  const told = (status: SpawnStatus, more: string | null = null): SpawnVerdict => ({
    status,
    reason: [more, reason].filter(Boolean).join('; ') || null,
  });
  if (facts.waiting) return told('running', 'waits for a permission');
  if (quietMs >= limits.abandonMs) return told('abandoned');
  // Without an output silence says nothing; only time does.
  if (facts.visible && quietMs >= stallLimitMs(facts, limits)) return told('stalled');
  return told('running');
}
