// Background work on simulated clocks and files, and the daemon's watch over it.

import { defaultConfig } from '../../src/config/schema.ts';
import type { Board } from '../../src/findings/board.ts';
import type { Sighting, State } from '../../src/model/agent.ts';
import { Counters } from '../../src/model/counters.ts';
import type { Incident } from '../../src/model/incident.ts';
import { ok } from '../../src/model/result.ts';
import type { SpawnEnd, SpawnRow, SpawnSign, StoredSpawn } from '../../src/model/spawn.ts';
import type { CheckRow, Store } from '../../src/model/store.ts';
import type { FileInfo, Files } from '../../src/model/world.ts';
import { Outputs } from '../../src/sense/outputs.ts';
import { Spawns } from '../../src/spawns/spawns.ts';
import { madeBoard } from './made-board.ts';

export const minute = 60_000;
const uid = 1_000;

export class World {
  nowMs = Date.parse('2026-01-22T12:00:00Z');
  monotonicMs = 1_000;
  readonly files = new Map<string, FileInfo>();
  readonly texts = new Map<string, string>();
  readonly stored = new Map<number, StoredSpawn>();
  readonly incidents = new Map<string, Partial<Incident>>();
  view: Sighting = view('idle');
  rows: SpawnRow[] = [];
  checks: CheckRow[] = [];
  board!: Board;
  /** What a handoff says of two sessions. */
  handedOver: (from: string, to: string) => boolean | null = () => false;

  /** Time as everybody has it. */
  pass(ms: number): void {
    this.nowMs += ms;
    this.monotonicMs += ms;
  }

  write(path: string, given: Partial<FileInfo> = {}): void {
    const before = this.files.get(path);
    const fresh = {
      kind: 'file',
      size: (before?.size ?? 0) + 1,
      mtimeMs: this.nowMs,
      inode: '1',
      bornMs: 1,
      uid,
    } as const;
    this.files.set(path, { ...fresh, ...given });
  }

  daemon(): Spawns {
    const files = {
      info: (path: string) => this.files.get(path) ?? null,
      readAt: (path: string) => ({ ok: true, bytes: Buffer.from(this.texts.get(path) ?? '') }),
    } as unknown as Files;
    const load = (_host: string, _after: number, only: string | null) =>
      Promise.resolve(ok([...this.stored.values()].filter(({ source }) => only === null || source === only)));
    const board = madeBoard({
      clock: { nowMs: () => this.nowMs, monotonicMs: () => this.monotonicMs },
      record: (row) => void this.checks.push(row),
    });
    const about: Board['about'] = (agent, check, subject) =>
      (this.incidents.get(`${agent} ${check} ${subject}`) ?? null) as Incident | null;
    this.board = Object.assign(board, { about });
    return new Spawns({
      host: 'here',
      store: { loadSpawns: load } as unknown as Store,
      outputs: new Outputs(files, uid),
      clock: { nowMs: () => this.nowMs, monotonicMs: () => this.monotonicMs },
      counters: new Counters(),
      config: defaultConfig,
      record: ({ spawns, checks }) => {
        this.rows.push(...spawns);
        this.checks.push(...checks.filter(({ details }) => details.summary !== true));
      },
      board: this.board,
    });
  }

  look(spawns: Spawns): void {
    this.board.publish([this.view]);
    spawns.look([this.view], (_agent, from, to) => this.handedOver(from, to));
  }

  status(taskId: string): string | undefined {
    return this.rows.findLast((row) => row.taskId === taskId)?.status;
  }
}

export function view(state: State, given: Partial<Sighting> = {}): Sighting {
  const reading = { state, detail: null, tool: null } as Sighting['reading'];
  return { agent: 'p-ps', project: 'p', sessionId: 's1', reading, ...given } as unknown as Sighting;
}

export function shell(world: World, id: string, given: Partial<SpawnSign> = {}): SpawnSign {
  const output = `/tmp/${id}.output`;
  return {
    id,
    kind: 'shell',
    label: 'npm',
    description: null,
    sinceMs: world.nowMs,
    output,
    callOpen: false,
    error: null,
    ...given,
  };
}

export function tell(spawns: Spawns, world: World, works: SpawnSign[], ends: [string, SpawnEnd][] = []): void {
  spawns.seen(world.view, { sessionId: world.view.sessionId, works, ends: new Map(ends), subagentFolder: '/tmp/new' });
  world.look(spawns);
}

export function tracked(world: World, id: number, given: Partial<StoredSpawn> = {}): StoredSpawn {
  const row: StoredSpawn = {
    id,
    host: 'here',
    agent: 'p-ps',
    project: 'p',
    taskId: `t${id}`,
    taskType: null,
    source: 'tracked',
    sessionId: 's1',
    label: null,
    description: null,
    output: `/tmp/t${id}.log`,
    spawnedAtMs: world.nowMs,
    lastOutputMs: null,
    status: 'running',
    reason: null,
    endedAtMs: null,
    noticed: null,
    isUnopened: false,
    ...given,
  };
  world.stored.set(id, row);
  return row;
}
