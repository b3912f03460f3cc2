import type { Finding, Found } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';

/** How long a trouble has to be seen before it is told, and how long it stays once it is out of sight. */
export interface Persistence {
  /** It has to be seen at least so often, by looks of their own… */
  readings: number;
  /** …and for so long. */
  forMs: number;
  /** Out of sight for less than this it is the same trouble. */
  keepMs: number;
}

/** A reading may come from the middle of something; one that is missed may come from a file that is being replaced. */
export const usualPersistence: Persistence = { readings: 2, forMs: 0, keepMs: 5_000 };

/** Where the record itself is the proof there is nothing to wait for, and nothing that could flicker. */
export const provenPersistence: Persistence = { readings: 1, forMs: 0, keepMs: 0 };

/** Two looks at the same moment are one reading. */
const readingGapMs = 250;

/** One look on both clocks: the one that is set, and the one that stands still while the machine sleeps. */
export interface Instant {
  nowMs: number;
  monotonicMs: number;
  /** Looks further apart than this are no continued watching. */
  gapMs: number;
}

export interface PersistenceRules {
  of: (check: CheckName) => Persistence;
  /** Its incident is open, be it from an earlier run: it was told, and goes on. */
  isOpen: (check: CheckName, subject: string | null) => boolean;
}

interface Held {
  finding: Found | null;
  readings: number;
  readingMs: number;
  firstMs: number;
  seenMs: number;
  isRaised: boolean;
}

export type Raised = Found & Pick<Finding, 'standing'>;

export interface Standing {
  findings: Raised[];
  /** Seen, but not yet often or long enough. */
  pending: { check: CheckName; reason: string }[];
}

/**
 * What was found at one agent, from look to look. A trouble is known by its check and subject: as long as it holds, or is
 * out of sight for a moment only, it is one. Time in which nobody looked counts neither as holding nor as being over.
 */
export class Holding {
  readonly #held = new Map<string, Held>();
  #last: Instant | null = null;

  /** `coming`: checks whose condition is there and whose time is not up yet; that counts as a reading. */
  look(found: readonly Found[], coming: readonly CheckName[], moment: Instant, rules: PersistenceRules): Standing {
    if (this.#last !== null) this.#passOver(missedBetween(this.#last, moment));
    this.#last = moment;
    const seen = new Set<string>();
    for (const check of coming) seen.add(this.#see(check, null, null, moment));
    for (const finding of found) seen.add(this.#see(finding.check, finding.subject, finding, moment));
    const standing: Standing = { findings: [], pending: [] };
    for (const [key, held] of this.#held) {
      const { finding } = held;
      if (finding === null && seen.has(key)) continue;
      const hold = finding === null ? usualPersistence : rules.of(finding.check);
      if (!seen.has(key) && (!held.isRaised || moment.monotonicMs - held.seenMs >= hold.keepMs)) this.#held.delete(key);
      else if (finding !== null) this.#stand(held, finding, seen.has(key), hold, moment, rules, standing);
    }
    return standing;
  }

  #see(check: CheckName, subject: string | null, finding: Found | null, { monotonicMs }: Instant): string {
    const key = `${check}\n${subject ?? ''}`;
    const held = this.#held.get(key);
    if (held === undefined) {
      const fresh = { readings: 1, readingMs: monotonicMs, firstMs: monotonicMs, seenMs: monotonicMs };
      this.#held.set(key, { finding, ...fresh, isRaised: false });
      return key;
    }
    if (monotonicMs - held.readingMs >= readingGapMs) {
      held.readings += 1;
      held.readingMs = monotonicMs;
    }
    // Its time is not up again: what was told of it is over.
    if (finding === null) held.isRaised = false;
    held.finding = finding;
    held.seenMs = monotonicMs;
    return key;
  }

  #stand(
    held: Held,
    finding: Found,
    isSeen: boolean,
    hold: Persistence,
    { monotonicMs }: Instant,
    rules: PersistenceRules,
    standing: Standing,
  ): void {
    const heldMs = monotonicMs - held.firstMs;
    held.isRaised ||=
      (held.readings >= hold.readings && heldMs >= hold.forMs) || rules.isOpen(finding.check, finding.subject);
    if (held.isRaised) standing.findings.push({ ...finding, standing: isSeen ? 'seen' : 'kept' });
    else
      standing.pending.push({
        check: finding.check,
        reason:
          held.readings < hold.readings
            ? `seen ${held.readings} of ${hold.readings} times: ${finding.evidence[0]?.text ?? ''}`
            : `seen for ${Math.round(heldMs / 100) / 10} of ${hold.forMs / 1000} s: ${finding.evidence[0]?.text ?? ''}`,
      });
  }

  /** Nobody looked for a while: what was only on its way begins anew, what was out of sight was not looked for. */
  #passOver(missedMs: number): void {
    if (missedMs === 0) return;
    for (const [key, held] of this.#held) {
      if (!held.isRaised) this.#held.delete(key);
      else held.seenMs += missedMs;
    }
  }
}

/** How much of the monotonic time between two looks nobody watched; also more than none when the machine slept in between. */
function missedBetween(before: Instant, now: Instant): number {
  const passedMs = now.monotonicMs - before.monotonicMs;
  const jumpMs = now.nowMs - before.nowMs - passedMs;
  return passedMs > now.gapMs || jumpMs > now.gapMs ? Math.max(1, passedMs) : 0;
}
