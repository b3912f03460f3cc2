import type { Config } from '../config/schema.ts';
import { findSpawnTroubles } from '../detect/spawn-findings.ts';
import type { Board } from '../findings/board.ts';
import type { FoundTrouble, Sighting } from '../model/agent.ts';
import type { Counters } from '../model/counters.ts';
import type { SpawnRow, SpawnSigns, SpawnStatus, StoredSpawn } from '../model/spawn.ts';
import { emptyBatch, type Store, type StoreBatch } from '../model/store.ts';
import type { Clock } from '../model/world.ts';
import type { OutputGlance, Outputs } from '../sense/outputs.ts';
import { type IsSameWork, Spawn, type SpawnInstant } from './spawn.ts';
import {
  changeRow,
  clientRow,
  endOf,
  keyOf,
  type SpawnDocument,
  spawnDocument,
  statusOf,
  summaryRow,
} from './spawn-rows.ts';

interface SpawnsParts {
  host: string;
  store: Store;
  outputs: Outputs;
  clock: Clock;
  counters: Counters;
  config: () => Config;
  record: (batch: StoreBatch) => void;
  board: Pick<Board, 'about' | 'findings' | 'post'>;
}

/** A spawn whose status changed. */
interface Change {
  spawn: Spawn;
  before: SpawnStatus;
}

const keptMs = 24 * 3_600_000;
const spawnsMax = 2_000;
const countedMax = 10_000;
/** A file that grows all the time need not be written down every time. */
const writeEveryMs = 5_000;
/** The client tells its model of a failed shell by itself; only what it does not take up is worth a word. */
const takeUpMs = 60_000;

/** All background work of this host: where it comes from, how it is doing, and what is wrong with it. */
export class Spawns {
  readonly #parts: SpawnsParts;
  readonly #spawns = new Map<string, Spawn>();
  readonly #signs = new Map<string, SpawnSigns>();
  readonly #summaries = new Map<string, number>();
  readonly #counted = new Set<string>();
  readonly #startedMs: number;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #refreshing: Promise<void> | null = null;

  constructor(parts: SpawnsParts) {
    this.#parts = parts;
    this.#startedMs = parts.clock.nowMs();
  }

  /** What an earlier run knew. After the incidents, which say what was told. */
  async restore(): Promise<void> {
    const { store, host, clock } = this.#parts;
    const rows = await store.loadSpawns(host, clock.nowMs() - keptMs, null);
    if (rows.ok) for (const row of rows.value) this.#takeIn(row);
  }

  /** What somebody tracked, finished or removed meanwhile. One query at a time; nobody waits for it. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#readTracked().finally(() => {
      this.#refreshing = null;
    });
    return this.#refreshing;
  }

  async #readTracked(): Promise<void> {
    const { store, host, clock } = this.#parts;
    const rows = await store.loadSpawns(host, clock.nowMs() - keptMs, 'tracked');
    if (!rows.ok) return;
    const there = new Set(rows.value.map((row) => row.id));
    for (const [key, { row }] of this.#spawns) {
      if (row.source === 'tracked' && !there.has(row.id)) this.#spawns.delete(key);
    }
    for (const row of rows.value) this.#takeIn(row);
  }

  /** What an agent's own records say now. */
  seen(view: Sighting, signs: SpawnSigns | null): void {
    if (signs !== null) this.#signs.set(view.agent, signs);
  }

  /** `pauseMs`: not if the last look is younger. */
  look(sightings: readonly Sighting[], isSameWork: IsSameWork, pauseMs = 0): void {
    const { clock, config } = this.#parts;
    const { spawn } = config();
    if (clock.monotonicMs() - this.#lookedMs < pauseMs) return;
    this.#lookedMs = clock.monotonicMs();
    const moment: SpawnInstant = {
      nowMs: clock.nowMs(),
      monotonicMs: clock.monotonicMs(),
      limits: { stallMs: spawn.stallMinutes * 60_000, abandonMs: spawn.abandonMinutes * 60_000 },
    };
    const views = new Map(sightings.map((view) => [view.agent, view]));
    for (const [agent, signs] of this.#signs) {
      const view = views.get(agent);
      if (view === undefined) this.#signs.delete(agent);
      else if (signs.works.length > 0 || this.#spawns.size > 0) this.#takeSigns(view, signs);
    }
    const batch = emptyBatch();
    const changes = this.#lookAtAll(moment, views, isSameWork, batch);
    const states = [...this.#spawns.values()].map((each) => each.state(this.#parts.host));
    const warnMs = Math.min(60_000, moment.limits.stallMs / 4);
    const troubles = findSpawnTroubles(states, { warnMs }, moment.nowMs);
    this.#parts.board.post(
      'spawns',
      troubles.filter((trouble) => !this.#isTooSoon(trouble, moment.nowMs)),
    );
    for (const change of changes) batch.checks.push(this.#changeRow(change, moment));
    this.#summarise(moment, batch);
    this.#forget(moment.nowMs);
    if (batch.spawns.length + batch.checks.length > 0) this.#parts.record(batch);
  }

  /** How one stands; null: there is none of that id. */
  status(agent: string | null, taskId: string): SpawnStatus | null {
    for (const { row } of this.#spawns.values()) if (row.agent === agent && row.taskId === taskId) return row.status;
    return null;
  }

  /**
   * An agent has answered a question about its work, or about some of it. Of what cannot be seen that is a sign of life; of
   * all else its output is the better word.
   */
  answered(agent: string | null, taskIds: readonly string[] | null): void {
    for (const spawn of this.#active(agent ?? '')) {
      if (taskIds === null || taskIds.includes(spawn.row.taskId)) spawn.answered(this.#parts.clock.monotonicMs());
    }
  }

  documents(agent: string): SpawnDocument[] {
    return this.#active(agent).map((spawn) => spawnDocument(spawn));
  }

  /** When the work of an agent began that runs now, and whether some of it cannot be seen without asking. */
  progress(agent: string): { sinceMs: number; hidden: boolean } | null {
    const running = this.#running(agent);
    if (running.length === 0) return null;
    return {
      sinceMs: Math.min(...running.map(({ row }) => row.spawnedAtMs)),
      hidden: running.some(({ watched }) => watched.length === 0),
    };
  }

  /** The ids of the work of an agent that runs now, whoever told of it, the oldest first. */
  running(agent: string): string[] {
    const running = this.#running(agent).sort((a, b) => a.row.spawnedAtMs - b.row.spawnedAtMs);
    return running.map(({ row }) => row.taskId);
  }

  #running(agent: string): Spawn[] {
    return this.#active(agent).filter(({ row, orphan }) => row.status !== 'abandoned' && orphan === null);
  }

  #active(agent: string): Spawn[] {
    return [...this.#spawns.values()].filter((spawn) => spawn.row.agent === agent && !spawn.isOver);
  }

  /** A stored row: of an earlier run, or of somebody who tracks. */
  #takeIn({ noticed, isUnopened, ...row }: StoredSpawn): void {
    const key = keyOf(row);
    const known = this.#spawns.get(key);
    const end = endOf(row, this.#parts.clock.nowMs());
    if (known !== undefined && known.row.id === row.id) {
      // A client's own word is in its record; of the others the row is the word.
      if (row.source === 'tracked' && known.end?.how !== end?.how) known.end = end;
      return;
    }
    const { stallMinutes, abandonMinutes } = this.#parts.config().spawn;
    const quiet = { stalled: stallMinutes, abandoned: abandonMinutes }[row.status as 'stalled'] ?? 0;
    // What changed while nobody looked is a change yet to be told.
    const spawn = new Spawn({ ...row, status: noticed ?? 'running' }, end, quiet * 60_000);
    const isOpen = noticed === 'failed' && this.#parts.board.about(row.agent, 'spawn-failed', row.taskId) !== null;
    spawn.untold = isUnopened || isOpen;
    this.#spawns.set(key, spawn);
  }

  #takeSigns(view: Sighting, signs: SpawnSigns): void {
    for (const work of signs.works) {
      const key = `client\n${view.agent}\n${work.id}`;
      const end = signs.ends.get(work.id) ?? null;
      let spawn = this.#spawns.get(key);
      if (spawn === undefined) {
        if (this.#spawns.size >= spawnsMax) continue;
        // Of what was over before the first look only the row is made.
        const old = end !== null && end.atMs < this.#startedMs;
        if (old && end.atMs < this.#startedMs - keptMs) continue;
        const row = clientRow(this.#parts.host, view, work, signs.sessionId);
        spawn = new Spawn(old ? { ...row, status: statusOf(end) } : row, end, 0);
        this.#spawns.set(key, spawn);
      }
      spawn.end = end;
      spawn.callOpen = work.callOpen;
    }
    const told = new Set(signs.works.map(({ id }) => id));
    for (const spawn of this.#spawns.values()) {
      const { row } = spawn;
      // Of an earlier session; what that one began may belong to this one by now.
      if (row.agent !== view.agent || row.source !== 'client' || told.has(row.taskId)) continue;
      spawn.end ??= signs.ends.get(row.taskId) ?? null;
      const moved = row.output?.slice(row.output.lastIndexOf('/') + 1);
      if (row.taskType === 'subagent' && moved !== undefined && signs.subagentFolder !== null)
        spawn.watchOutput(`${signs.subagentFolder}/${moved}`);
    }
  }

  #lookAtAll(
    moment: SpawnInstant,
    views: ReadonlyMap<string, Sighting>,
    isSameWork: IsSameWork,
    batch: StoreBatch,
  ): Change[] {
    const changes: Change[] = [];
    const glances = new Map<string, OutputGlance>();
    const glance = (path: string): OutputGlance => {
      const known = glances.get(path);
      if (known !== undefined) return known;
      const fresh = this.#parts.outputs.glance(path);
      glances.set(path, fresh);
      if (fresh.problem !== null && !this.#counted.has(path)) {
        if (this.#counted.size >= countedMax) this.#counted.clear();
        this.#counted.add(path);
        this.#parts.counters.add(`spawn.${fresh.problem}`);
      }
      return fresh;
    };
    const sharing = this.#sharing();
    for (const spawn of this.#spawns.values()) {
      if (spawn.row.agent === null) spawn.row = { ...spawn.row, agent: parentOf(spawn.row.project, views) };
      const parent = spawn.row.agent === null ? null : (views.get(spawn.row.agent) ?? null);
      const others = (sharing.get(spawn.row.output ?? '') ?? []).filter((other) => other !== spawn);
      const sharedWith = others.map((other) => other.row.taskId);
      const before = spawn.look(moment, { parent, isSameWork, glance, outputs: this.#parts.outputs, sharedWith });
      if (before !== spawn.row.status) {
        spawn.untold = spawn.row.status === 'failed' && spawn.end?.how === 'failed';
        changes.push({ spawn, before });
      }
      if (spawn.untold && this.#isToldOtherwise(spawn, parent, moment.nowMs)) spawn.untold = false;
      this.#write(spawn, moment, batch);
    }
    return changes;
  }

  #changeRow({ spawn, before }: Change, moment: SpawnInstant) {
    const { agent, taskId } = spawn.row;
    const findings = this.#parts.board.findings(agent);
    return changeRow(spawn, before, moment, (check) =>
      findings.find((finding) => finding.check === check && finding.subject === taskId),
    );
  }

  /** Output files that more than one running spawn writes to. */
  #sharing(): Map<string, Spawn[]> {
    const by = new Map<string, Spawn[]>();
    for (const spawn of this.#spawns.values()) {
      const { output } = spawn.row;
      if (output !== null && !spawn.isOver) by.set(output, [...(by.get(output) ?? []), spawn]);
    }
    return by;
  }

  #isToldOtherwise(spawn: Spawn, parent: Sighting | null, nowMs: number): boolean {
    const { agent, taskId, taskType, source } = spawn.row;
    const endedMs = spawn.end?.atMs ?? nowMs;
    if (nowMs - endedMs > keptMs) return true;
    // Told to a human it stays until somebody has seen it.
    const incident = this.#parts.board.about(agent, 'spawn-failed', taskId);
    if (incident !== null && (incident.ackedMs !== null || incident.lastPromptMs !== null)) return true;
    if (source !== 'client' || taskType !== 'shell' || parent === null) return false;
    return parent.lastTurn === 'ok' && (parent.lastTurnAtMs ?? 0) > endedMs;
  }

  #write(spawn: Spawn, moment: SpawnInstant, batch: StoreBatch): void {
    const text = JSON.stringify(spawn.row);
    const { written } = spawn;
    if (written?.text === text) return;
    const isStatus = written === null || statusText(written.text) !== statusText(text);
    if (!isStatus && moment.monotonicMs - written.atMonotonicMs < writeEveryMs) return;
    spawn.written = { text, atMonotonicMs: moment.monotonicMs };
    batch.spawns.push(spawn.row);
  }

  #isTooSoon({ agent, finding }: FoundTrouble, nowMs: number): boolean {
    if (finding.check !== 'spawn-failed') return false;
    const spawn = this.#spawns.get(`client\n${agent}\n${finding.subject}`);
    const waitMs = Math.min(takeUpMs, this.#parts.config().spawn.stallMinutes * 60_000);
    return spawn?.row.taskType === 'shell' && Math.abs(nowMs - finding.sinceMs) < waitMs;
  }

  #summarise(moment: SpawnInstant, batch: StoreBatch): void {
    const dueMs = this.#parts.config().healthIntervalMinutes * 60_000;
    const agents = new Set(
      [...this.#spawns.values()].flatMap(({ row, isOver }) => (isOver || row.agent === null ? [] : [row.agent])),
    );
    for (const agent of this.#summaries.keys()) if (!agents.has(agent)) this.#summaries.delete(agent);
    for (const agent of agents) {
      const last = this.#summaries.get(agent);
      if (last !== undefined && moment.monotonicMs - last < dueMs) continue;
      this.#summaries.set(agent, moment.monotonicMs);
      batch.checks.push(summaryRow(agent, this.#active(agent), moment.nowMs));
    }
  }

  #forget(nowMs: number): void {
    for (const [key, spawn] of this.#spawns) {
      const overMs = spawn.row.endedAtMs ?? (spawn.row.status === 'abandoned' ? nowMs - spawn.quietMs : null);
      // What the client still tells of would only be found anew.
      const told = this.#signs.get(spawn.row.agent ?? '')?.works.some((work) => work.id === spawn.row.taskId) ?? false;
      if (overMs !== null && nowMs - overMs > keptMs && !told) this.#spawns.delete(key);
    }
  }
}

/** `{project}-ps`, else the only living agent of the project. */
function parentOf(project: string, views: ReadonlyMap<string, Sighting>): string | null {
  const living = [...views.values()].filter((view) => view.project === project && view.reading.state !== 'ended');
  const named = living.find((view) => view.agent === `${project}-ps`);
  return named?.agent ?? (living.length === 1 ? (living[0]?.agent ?? null) : null);
}

function statusText(json: string): string {
  const { status, reason, output, agent, sessionId } = JSON.parse(json) as SpawnRow;
  return JSON.stringify([status, reason, output, agent, sessionId]);
}
