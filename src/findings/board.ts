import { randomUUID } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import { isOver } from '../decide/policy.ts';
import { type Examination, holdOf } from '../detect/health.ts';
import { Holding, provenPersistence, type Raised } from '../detect/hold.ts';
import type { AgentView, Finding, Found, FoundTrouble, LooseFinding, Sighting } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import type { Incident } from '../model/incident.ts';
import { Running } from '../model/running.ts';
import type { Score } from '../model/score.ts';
import type { CheckRow, Store } from '../model/store.ts';
import type { Clock } from '../model/world.ts';
import { findingRow } from './health-rows.ts';
import { countDeeds, fresh, key, moveTimes, type Open } from './open-incident.ts';
import { type Finder, foundIn, type Looking, nameOf, newPlace, type Place, type Whose } from './place.ts';
import { Quarantine } from './quarantine.ts';

interface BoardParts {
  host: string;
  store: Pick<Store, 'openIncidents' | 'recentScores' | 'deedsAbout' | 'saveIncident'>;
  clock: Clock;
  config: () => Config;
  record: (row: CheckRow) => void;
  failed: (error: unknown) => void;
}

interface Shown {
  views: readonly AgentView[];
  byName: ReadonlyMap<string, AgentView>;
  loose: readonly LooseFinding[];
}

/** What an earlier run left open is not over because the agents' records have yet to be read. */
export const readUpMs = 10_000;
/** Passes come every half second, so this long without one the machine slept or this program stood still. */
export const gapMs = 10_000;
const gapTicks = 5;

/**
 * The one place for whatever is wrong: who finds something says it here, who acts or shows reads it here. A trouble has its
 * id, its holding, its flapping, what was done about it, and its rows by this place alone.
 */
export class Board {
  readonly #parts: BoardParts;
  readonly #places: Record<Finder, Map<string, Place>> = {
    ...{ checks: new Map(), spawns: new Map(), handoffs: new Map(), panes: new Map(), host: new Map() },
    flapping: new Map(),
  };
  readonly #open = new Map<string, Open>();
  /** Ids of troubles whose incident is opened in the next round. */
  readonly #ids = new Map<string, string>();
  readonly #quarantine = new Quarantine();
  readonly #saving: Running;
  #sightings: readonly Sighting[] = [];
  #shown: Shown | null = null;
  #sinceMs = 0;

  constructor(parts: BoardParts) {
    this.#parts = parts;
    this.#saving = new Running(parts.failed);
  }

  /** `only`: those agents' incidents anew, as whoever had the agents until now left them. */
  async restore(only: ReadonlySet<string> | null = null): Promise<boolean> {
    const { store, host, clock } = this.#parts;
    if (only === null) this.#sinceMs = clock.nowMs();
    const open = await store.openIncidents(host);
    const scores = await store.recentScores(host, this.#sinceMs - Quarantine.memoryMs);
    if (!open.ok || !scores.ok) return false;
    const taken = open.value.filter(({ agent }) => only === null || only.has(agent ?? ''));
    const deeds = await store.deedsAbout(taken.map(({ id }) => id));
    if (!deeds.ok) return false;
    if (only === null) this.#quarantine.restore(scores.value, open.value, this.#sinceMs);
    for (const [name, { incident }] of this.#open) if (only?.has(incident.agent ?? '')) this.#open.delete(name);
    for (const incident of taken) {
      countDeeds(incident, deeds.value.get(incident.id), clock.nowMs());
      this.#open.set(key(incident), { ...fresh(incident), isRestored: true });
    }
    this.#shown = null;
    return true;
  }

  /** When this run began to look. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** The wall clock was set, or the machine slept. */
  clockSet(byMs: number, nowMs: number): void {
    this.#sinceMs += byMs;
    moveTimes(this.#open.values(), byMs, nowMs);
    this.#quarantine.clockSet(byMs);
    for (const open of this.#open.values()) this.save(open);
  }

  get sightings(): readonly Sighting[] {
    return this.#sightings;
  }

  /** How the agents are seen by now. */
  publish(sightings: readonly Sighting[]): void {
    this.#sightings = sightings;
    this.#shown = null;
    const { checks } = this.#places;
    const names = new Set(sightings.map(({ agent }) => agent));
    for (const agent of checks.keys()) if (!names.has(agent)) checks.delete(agent);
    for (const sighting of sightings)
      if (sighting.reading.state === 'ended' && !checks.has(sighting.agent)) this.#standAtItsEnd(sighting);
  }

  /** Nobody looks at it again: what was found at its end stands while its incident is open. */
  #standAtItsEnd(sighting: Sighting): void {
    const { agent, reading } = sighting;
    const incident = this.about(agent, 'ended-unexpectedly', null);
    if (incident === null) return;
    const found = { ...foundIn(incident), sinceMs: reading.sinceMs };
    this.examined(sighting, { findings: [found], coming: [], fine: [] });
  }

  /** What the checks say of an agent. Of one that is gone there is no later look: what holds now is the last word. */
  examined(sighting: Sighting, { findings, coming, fine }: Examination): void {
    const place = this.#place('checks', sighting);
    const isGone = sighting.reading.state === 'ended';
    if (isGone) place.holding = new Holding();
    const mostMs = Math.max(gapMs, gapTicks * this.#parts.config().tickSeconds * 1000);
    this.#put(place, findings, { coming, hold: holdOf, gapMs: mostMs });
    place.fine = [...fine, ...place.pending];
    place.isComing = coming.length > 0;
    // Its name may be another's at the next look.
    if (isGone) Object.assign(place, { holding: new Holding(), pending: [] });
  }

  /** Everything that this finder finds now. What has no `hold` is told as it is found. */
  post(
    by: Exclude<Finder, 'checks'>,
    troubles: readonly FoundTrouble[],
    hold: Looking['hold'] = () => provenPersistence,
  ): void {
    for (const trouble of troubles) this.#place(by, trouble);
    for (const [name, place] of this.#places[by]) {
      const mine = troubles.filter((one) => nameOf(one) === name).map(({ finding }) => finding);
      this.#put(place, mine, { coming: [], hold, gapMs: Number.POSITIVE_INFINITY });
      if (place.raised.length + place.pending.length === 0) this.#places[by].delete(name);
    }
  }

  #place(by: Finder, { host, agent, project }: Whose): Place {
    const name = nameOf({ agent, project });
    const place = this.#places[by].get(name) ?? newPlace(by, { host, agent, project });
    this.#places[by].set(name, place);
    return place;
  }

  #put(place: Place, found: readonly Found[], { coming, hold, gapMs: mostMs }: Looking): void {
    const { clock } = this.#parts;
    const { raised: before, agent } = place;
    const moment = { nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs(), gapMs: mostMs };
    const isOpen = (check: CheckName, subject: string | null) => this.about(agent, check, subject) !== null;
    const standing = place.holding.look(found, coming, moment, { of: hold, isOpen });
    place.raised = standing.findings;
    place.pending = standing.pending;
    if (before.length + place.raised.length === 0) return;
    this.#shown = null;
    const isIn = (list: readonly Raised[], one: Raised) =>
      list.some(({ check, subject }) => check === one.check && subject === one.subject);
    for (const one of place.raised) {
      // Those of an earlier run have their row already.
      const isKnown = this.#open.get(key({ agent, ...one }))?.isRestored === true;
      if (!isIn(before, one) && !isKnown) this.#record(place, one, one.severity);
    }
    for (const one of before) if (!isIn(place.raised, one)) this.#record(place, one, 'ok');
  }

  #record(place: Place, one: Raised, status: CheckRow['status']): void {
    const row = findingRow(place, { ...one, id: this.#idOf(place.agent, one) }, status, this.#parts.clock.nowMs());
    if (row !== null) this.#parts.record(row);
  }

  /** The same while the trouble lasts. */
  #idOf(agent: string | null, about: Pick<Found, 'check' | 'subject'>): string {
    const name = key({ agent, ...about });
    const id = this.#open.get(name)?.incident.id ?? this.#ids.get(name) ?? randomUUID();
    this.#ids.set(name, id);
    return id;
  }

  /** As all who act and all who show have it, the ended ones of the last day too. */
  views(): readonly AgentView[] {
    return this.#now.views;
  }

  view(agent: string): AgentView | null {
    return this.#now.byName.get(agent) ?? null;
  }

  /** Troubles that belong to no agent. */
  loose(): readonly LooseFinding[] {
    return this.#now.loose;
  }

  /** Of one agent, or of none. */
  findings(agent: string | null): readonly Finding[] {
    return agent === null ? this.loose().map(({ finding }) => finding) : (this.view(agent)?.findings ?? []);
  }

  get #now(): Shown {
    this.#shown ??= this.#compose();
    return this.#shown;
  }

  #compose(): Shown {
    const found = new Map<string, Finding[]>();
    const loose: LooseFinding[] = [];
    const put = ({ host, agent, project }: Whose, finding: Finding) => {
      if (agent === null) loose.push({ host, project, finding });
      else found.set(agent, [...(found.get(agent) ?? []), finding]);
    };
    const seen = new Set<string>();
    for (const place of this.#allPlaces()) {
      const { agent } = place;
      for (const one of place.raised) {
        seen.add(key({ agent, ...one }));
        const standing = this.#quarantine.isApart({ agent, ...one }) ? 'quarantined' : one.standing;
        put(place, this.#stand(agent, one, standing));
      }
    }
    const sightings = new Map(this.#sightings.map((sighting) => [sighting.agent, sighting]));
    for (const [name, open] of this.#open) {
      const { agent } = open.incident;
      if (seen.has(name) || this.#isEnded(open, sightings.get(agent ?? '') ?? null, false)) continue;
      put(open.incident, this.#stand(agent, open.last ?? foundIn(open.incident), 'open'));
    }
    const views = this.#sightings.map((sighting) => ({ ...sighting, findings: found.get(sighting.agent) ?? [] }));
    return { views, byName: new Map(views.map((view) => [view.agent, view])), loose };
  }

  #stand(agent: string | null, found: Found, standing: Finding['standing']): Finding {
    const incident = this.#open.get(key({ agent, ...found }))?.incident;
    const { prompts = 0, tells = 0, ackedMs = null } = incident ?? {};
    return { ...found, standing, id: this.#idOf(agent, found), prompts, tells, ackedMs };
  }

  *#allPlaces(): Iterable<Place> {
    for (const places of Object.values(this.#places)) yield* places.values();
  }

  /** Why the checks that told nothing told nothing. */
  fine(agent: string): Examination['fine'] {
    return this.#places.checks.get(agent)?.fine ?? [];
  }

  /** Something was seen there that has to be seen again before it is told. */
  isPending(agent: string): boolean {
    return (this.#places.checks.get(agent)?.pending.length ?? 0) > 0;
  }

  /** The checks find nothing there, and nothing is on its way. */
  isQuiet(agent: string): boolean {
    const place = this.#places.checks.get(agent);
    return place !== undefined && place.raised.length + place.pending.length === 0 && !place.isComing;
  }

  get hasPending(): boolean {
    return [...this.#places.checks.values()].some(({ pending }) => pending.length > 0);
  }

  /** The open incident about it; null: there is none. */
  about(agent: string | null, check: CheckName, subject: string | null): Incident | null {
    return this.#open.get(key({ agent, check, subject }))?.incident ?? null;
  }

  /** What is open, and what is going on about it. */
  open(): readonly Open[] {
    return [...this.#open.values()];
  }

  /**
   * Opens what was found and closes what is over. `isLast`: of a single run, in which everything was looked at as often as
   * it needs.
   */
  round(isElsewhere: (agent: string | null) => boolean, isLast = false): { opened: Open[]; closed: Open[] } {
    const nowMs = this.#parts.clock.nowMs();
    const present = new Set<string>();
    for (const { agent, raised } of this.#allPlaces()) for (const one of raised) present.add(key({ agent, ...one }));
    this.#quarantine.look(present, nowMs);
    this.#postFlapping();
    const opened: Open[] = [];
    for (const open of this.#open.values()) open.finding = null;
    for (const view of this.views())
      for (const finding of view.findings) this.#see(view, finding, isElsewhere(view.agent), opened);
    for (const loose of this.loose()) this.#see({ ...loose, agent: null }, loose.finding, false, opened);
    const closed = this.open().filter((open) => {
      if (isElsewhere(open.incident.agent)) return false;
      const view = open.incident.agent === null ? null : this.view(open.incident.agent);
      return this.#isEnded(open, view, open.finding !== null, isLast);
    });
    for (const open of closed) {
      this.#open.delete(key(open.incident));
      this.#ids.delete(key(open.incident));
      open.incident.closedMs = nowMs;
      this.save(open);
    }
    for (const name of this.#ids.keys()) if (!this.#open.has(name) && !present.has(name)) this.#ids.delete(name);
    return { opened, closed };
  }

  #see({ host, agent, project }: Whose, finding: Finding, isElsewhere: boolean, opened: Open[]): void {
    if (finding.standing === 'open') return;
    const { id, check, subject, severity } = finding;
    const text = finding.evidence[0]?.text ?? check;
    const name = key({ agent, check, subject });
    const known = this.#open.get(name);
    if (known !== undefined) {
      known.finding = finding;
      if (isElsewhere) return;
      known.incident.text = text;
      known.last = finding;
      if (finding.standing !== 'seen') return;
      known.seenMs = this.#parts.clock.nowMs();
      known.isRestored = false;
      return;
    }
    if (isElsewhere || finding.standing === 'quarantined') return;
    const none = { closedMs: null, ackedMs: null, prompts: 0, lastPromptMs: null, tells: 0, lastTellMs: null };
    const openedMs = this.#parts.clock.nowMs();
    const open = fresh({ id, host, agent, project, check, subject, severity, text, openedMs, ...none });
    this.#open.set(name, Object.assign(open, { finding, last: finding }));
    this.save(open);
    opened.push(open);
  }

  #isEnded(open: Open, view: Sighting | null, isFound: boolean, isLast = false): boolean {
    const nowMs = this.#parts.clock.nowMs();
    const isEnded = isOver(open.incident, view, isFound) && !this.#mayReturn(open, nowMs);
    return isEnded && (isLast || this.#isLookedAt(open, view, nowMs));
  }

  /** Agents that are being tried again are out of the trouble for a moment: it is still the same one. */
  #mayReturn({ incident, seenMs }: Open, nowMs: number): boolean {
    return incident.check === 'mass-failure' && nowMs - seenMs < this.#parts.config().judging.massMinutes * 60_000;
  }

  /** An incident of an earlier run is judged only once its agent was looked at in this one. */
  #isLookedAt({ incident, isRestored }: Open, view: Sighting | null, nowMs: number): boolean {
    if (!isRestored) return true;
    const isReadUp = nowMs - this.#sinceMs >= readUpMs;
    if (view === null) return incident.agent !== null || isReadUp;
    return isReadUp && view.reading.seenAtMs >= this.#sinceMs;
  }

  /** How it ended is known: what comes and goes is set apart. */
  ended(incident: Incident, score: Score, atMs: number): void {
    this.#quarantine.ended(incident, score, atMs);
    this.#postFlapping();
  }

  #postFlapping(): void {
    const ended = new Set(this.#sightings.filter(({ reading }) => reading.state === 'ended').map(({ agent }) => agent));
    this.post(
      'flapping',
      this.#quarantine.found().filter(({ agent }) => !ended.has(agent ?? '')),
    );
  }

  /** What changed about an incident. One after the other: an older word on it never comes after a newer one. */
  save(open: Open): void {
    const incident = { ...open.incident };
    open.saved = open.saved.then(() => this.#store(incident));
    this.#saving.begin(open.saved);
    this.#shown = null;
  }

  /** Whether it is on record; what waits for the database is written when it is back. */
  async #store(incident: Incident): Promise<boolean> {
    const saved = await this.#parts.store.saveIncident(incident);
    if (!saved.ok && saved.reason !== 'unavailable')
      this.#parts.failed(new Error(`an incident was not stored: ${saved.message}`));
    return saved.ok;
  }

  /** Until everything begun is done. */
  settled(): Promise<void> {
    return this.#saving.settled();
  }
}
