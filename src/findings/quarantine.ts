import { verdictOn } from '../decide/worth.ts';
import { endedByItself, type Flaps, flapLimits, moved, noFlaps, setBy, settleFlaps } from '../detect/flapping.ts';
import type { AgentView, Finding } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import type { Incident } from '../model/incident.ts';
import type { Score } from '../model/score.ts';
import type { RecentScore } from '../model/store.ts';
import type { LooseFinding } from '../spawns/spawns.ts';

/** One trouble that may come and go: it is known by these. */
interface Trouble {
  agent: string | null;
  project: string;
  check: CheckName;
  subject: string | null;
}

interface Watched {
  trouble: Trouble;
  flaps: Flaps;
  isPresent: boolean;
}

type IdFor = (agent: string | null, check: CheckName, subject: string | null) => string;

/** Checks that come and go too often at one agent: shown, set apart, and not acted on until they are still. */
export class Quarantine {
  readonly #watched = new Map<string, Watched>();
  readonly #idFor: IdFor;

  constructor(idFor: IdFor) {
    this.#idFor = idFor;
  }

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

  /** What is there now, and what is set apart. */
  look(views: readonly AgentView[], loose: readonly LooseFinding[], nowMs: number): void {
    if (this.#watched.size === 0) return;
    const present = new Set([
      ...views.flatMap(({ agent, findings }) => findings.map(({ check, subject }) => keyOf({ agent, check, subject }))),
      ...loose.map(({ finding: { check, subject } }) => keyOf({ agent: null, check, subject })),
    ]);
    for (const [key, watched] of this.#watched) {
      if (present.has(key) !== watched.isPresent) watched.flaps = moved(watched.flaps, nowMs);
      watched.isPresent = present.has(key);
      watched.flaps = settleFlaps(watched.flaps, nowMs);
      const isOld = nowMs - watched.flaps.movedMs > flapLimits.withinMs;
      if (watched.flaps.apartSinceMs === null && isOld) this.#watched.delete(key);
    }
  }

  /** The wall clock was set, or the machine slept. */
  clockSet(byMs: number): void {
    for (const watched of this.#watched.values()) watched.flaps = setBy(watched.flaps, byMs);
  }

  overlay(views: AgentView[]): AgentView[] {
    if (!this.#hasApart()) return views;
    return views.map((view) => ({
      ...view,
      findings: [
        ...view.findings.map((finding) => this.#marked(view.agent, finding)),
        ...(view.reading.state === 'ended' ? [] : this.#findings(view.agent).map(({ finding }) => finding)),
      ],
    }));
  }

  overlayLoose(loose: LooseFinding[]): LooseFinding[] {
    if (!this.#hasApart()) return loose;
    const marked = loose.map(({ project, finding }) => ({ project, finding: this.#marked(null, finding) }));
    return [...marked, ...this.#findings(null)];
  }

  #hasApart(): boolean {
    return [...this.#watched.values()].some(({ flaps }) => flaps.apartSinceMs !== null);
  }

  #marked(agent: string | null, finding: Finding): Finding {
    const { check, subject } = finding;
    const apart = this.#watched.get(keyOf({ agent, check, subject }))?.flaps.apartSinceMs ?? null;
    return apart === null ? finding : { ...finding, standing: 'quarantined' };
  }

  #findings(agent: string | null): LooseFinding[] {
    const mine = [...this.#watched.values()].filter(({ trouble }) => trouble.agent === agent);
    return mine.flatMap(({ trouble: { check, subject, project }, flaps: { apartSinceMs } }) => {
      if (apartSinceMs === null) return [];
      const what = subject === null ? check : `${check}:${subject}`;
      const text = `${check} came and went by itself more than ${flapLimits.timesMax} times in ${flapLimits.withinMs / 60_000} min; nothing is done about it until it has been still for ${flapLimits.quietMs / 60_000} min`;
      return [
        {
          project,
          finding: {
            id: this.#idFor(agent, 'flapping', what),
            check: 'flapping',
            subject: what,
            severity: 'warning',
            confidence: 1,
            sinceMs: apartSinceMs,
            evidence: [{ source: 'process', atMs: apartSinceMs, text }],
            action: null,
            slots: null,
            standing: 'seen',
          },
        },
      ];
    });
  }

  #settle(trouble: Omit<Trouble, 'project'>, atMs: number): void {
    const watched = this.#watched.get(keyOf(trouble));
    if (watched !== undefined) watched.flaps = settleFlaps(watched.flaps, atMs);
  }

  #watch(trouble: Trouble): Watched {
    const key = keyOf(trouble);
    const watched = this.#watched.get(key) ?? { trouble, flaps: noFlaps, isPresent: false };
    this.#watched.set(key, watched);
    return watched;
  }
}

function troubleOf({ agent, project, subject }: Incident): Trouble {
  const [check = '', ...rest] = (subject ?? '').split(':');
  return { agent, project, check: check as CheckName, subject: rest.length === 0 ? null : rest.join(':') };
}

function keyOf({ agent, check, subject }: Omit<Trouble, 'project'>): string {
  return `${agent ?? ''}\n${check}\n${subject ?? ''}`;
}
