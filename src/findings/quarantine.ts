import { verdictOn } from '../decide/worth.ts';
import { endedByItself, type Flaps, flapLimits, moved, noFlaps, setBy, settleFlaps } from '../detect/flapping.ts';
import type { FoundTrouble } from '../model/agent.ts';
import type { AgentOrHost } from '../model/agent-ref.ts';
import type { CheckName } from '../model/check.ts';
import type { Incident } from '../model/incident.ts';
import type { Score } from '../model/score.ts';
import type { RecentScore } from '../model/store.ts';
import { key } from './open-incident.ts';

/** One trouble that may come and go: it is known by these. */
interface Trouble extends AgentOrHost {
  project: string;
  check: CheckName;
  subject: string | null;
}

interface Watched {
  trouble: Trouble;
  flaps: Flaps;
  isPresent: boolean;
}

/** Checks that come and go too often at one agent: shown, set apart, and not acted on until they are still. */
export class Quarantine {
  readonly #watched = new Map<string, Watched>();

  /** From when on an earlier run's record is needed. */
  static readonly memoryMs = flapLimits.withinMs;

  restore(scores: readonly RecentScore[], open: readonly Incident[], nowMs: number): void {
    // As that run went through it: what had been still for long enough in between was no longer apart.
    for (const score of scores) {
      this.#settle(score, score.openedMs);
      this.ended({ ...score, project: '' }, score, score.endedMs);
    }
    for (const { trouble } of this.#watched.values()) this.#settle(trouble, nowMs);
    for (const incident of open) {
      const trouble = incident.check === 'flapping' ? troubleOf(incident) : null;
      if (trouble === null) continue;
      const watched = this.#watch(trouble);
      watched.flaps = { ...watched.flaps, apartSinceMs: incident.openedMs, movedMs: nowMs };
    }
  }

  /** Only what was not shown to be right can be flapping. */
  ended(trouble: Trouble, { check, ending }: Pick<Score, 'check' | 'ending'>, atMs: number): void {
    if (ending !== 'by-itself' || verdictOn(check, ending) === 'right') return;
    const watched = this.#watch(trouble);
    watched.trouble = { ...trouble };
    watched.flaps = endedByItself(watched.flaps, atMs);
  }

  /** `present`: the keys of what is there now. */
  look(present: ReadonlySet<string>, nowMs: number): void {
    for (const [name, watched] of this.#watched) {
      if (present.has(name) !== watched.isPresent) watched.flaps = moved(watched.flaps, nowMs);
      watched.isPresent = present.has(name);
      watched.flaps = settleFlaps(watched.flaps, nowMs);
      const isOld = nowMs - watched.flaps.movedMs > flapLimits.withinMs;
      if (watched.flaps.apartSinceMs === null && isOld) this.#watched.delete(name);
    }
  }

  /** The wall clock was set, or the machine slept. */
  clockSet(byMs: number): void {
    for (const watched of this.#watched.values()) watched.flaps = setBy(watched.flaps, byMs);
  }

  isApart(trouble: Parameters<typeof key>[0]): boolean {
    return (this.#watched.get(key(trouble))?.flaps.apartSinceMs ?? null) !== null;
  }

  /** What is set apart, as a trouble of its own. */
  found(): FoundTrouble[] {
    return [...this.#watched.values()].flatMap(({ trouble, flaps: { apartSinceMs } }) => {
      if (apartSinceMs === null) return [];
      const { host, agent, project, check, subject: of } = trouble;
      const subject = of === null ? check : `${check}:${of}`;
      const text = `${check} came and went by itself more than ${flapLimits.timesMax} times in ${flapLimits.withinMs / 60_000} min; nothing is done about it until it has been still for ${flapLimits.quietMs / 60_000} min`;
      const evidence = [{ source: 'process' as const, atMs: apartSinceMs, text }];
      const what = { check: 'flapping', subject, severity: 'warning', confidence: 1, sinceMs: apartSinceMs } as const;
      return [{ host, agent, project, finding: { ...what, evidence, action: null, slots: null } }];
    });
  }

  #settle(trouble: Parameters<typeof key>[0], atMs: number): void {
    const watched = this.#watched.get(key(trouble));
    if (watched !== undefined) watched.flaps = settleFlaps(watched.flaps, atMs);
  }

  #watch(trouble: Trouble): Watched {
    const watched = this.#watched.get(key(trouble)) ?? { trouble, flaps: noFlaps, isPresent: false };
    this.#watched.set(key(trouble), watched);
    return watched;
  }
}

function troubleOf({ host, agent, project, subject }: Incident): Trouble {
  const [check = '', ...rest] = (subject ?? '').split(':');
  return { host, agent, project, check: check as CheckName, subject: rest.length === 0 ? null : rest.join(':') };
}
