import { describe, expect, it } from 'vitest';
import { agentView, viewNowMs } from '../../test/runs/agent-view.ts';
import { found, madeBoard, see } from '../../test/runs/made-board.ts';
import { defaultConfig } from '../config/schema.ts';
import type { Board } from '../findings/board.ts';
import { HostFindings } from '../findings/host-findings.ts';
import type { Found, Sighting } from '../model/agent.ts';
import type { Incident } from '../model/incident.ts';
import { ok } from '../model/result.ts';
import { Keeper } from './keeper.ts';
import { Scores } from './scores.ts';
import { Spoken } from './spoken.ts';

const minute = 60_000;
const config = defaultConfig();

/** Agents that are made up, the rows that outlive a restart, and what people were told. */
class Host {
  nowMs = viewNowMs;
  readonly told: string[] = [];
  /** Through which channels a message comes. */
  reaches: 'all' | 'some' | 'none' = 'all';
  /** Agents that another daemon has. */
  readonly elsewhere = new Set<string>();
  readonly #rows = new Map<string, Incident>();
  readonly #seen = new Map<string, { view: Sighting; findings: Found[] }>();
  #board!: Board;
  #keeper!: Keeper;
  #host!: HostFindings;

  async start(): Promise<void> {
    const clock = { nowMs: () => this.nowMs, monotonicMs: () => this.nowMs };
    const store = {
      openIncidents: async () => ok(structuredClone(this.incidents('open'))),
      recentScores: async () => ok([]),
      deedsAbout: async () => ok(new Map()),
      saveIncident: async (incident: Incident) => {
        this.#rows.set(incident.id, structuredClone(incident));
        return ok(undefined);
      },
      saveScore: async () => ok(undefined),
    };
    this.#board = madeBoard({ clock, config: () => config, store: store as never });
    const parts = { host: 'h', hostName: 'h', clock, config: () => config, board: this.#board };
    this.#host = new HostFindings(parts);
    this.#keeper = new Keeper({
      ...parts,
      store: store as never,
      paused: () => false,
      quietUntilMs: () => null,
      hold: ({ agent }) => (this.elsewhere.has(agent) ? 'elsewhere' : 'ours'),
      isElsewhere: (agent) => this.elsewhere.has(agent ?? ''),
      spoken: new Spoken({ ...parts, store: store as never }),
      actions: {
        tell: async ({ agent, check }: Incident) => {
          this.told.push(`${agent ?? 'host'}: ${check}`);
          return this.reaches;
        },
      } as never,
      isOneOfMany: (agent, check) => this.#host.covers(agent, check),
      isHandedOver: () => false,
      isReadUp: () => true,
      scores: new Scores({ promptedBy: () => null, interruptedByUs: () => false, spawnStatus: () => null }),
      failed: (error) => {
        throw error;
      },
    });
    await this.#board.restore();
  }

  incidents(which: 'open' | 'all' = 'all'): Incident[] {
    return [...this.#rows.values()].filter(({ closedMs }) => which === 'all' || closedMs === null);
  }

  /** They end, all in this moment, and nobody asked them to. */
  end(...agents: string[]): void {
    for (const agent of agents) {
      const finding = found('ended-unexpectedly', { severity: 'critical', sinceMs: this.nowMs });
      this.#seen.set(agent, { view: agentView('ended', null, 1, { agent }), findings: [finding] });
    }
  }

  /** They are at their prompt, with nothing wrong. */
  live(...agents: string[]): void {
    for (const agent of agents) {
      const view = agentView('idle', null, 1, { agent });
      const reading = { ...view.reading, seenAtMs: this.nowMs };
      this.#seen.set(agent, { view: { ...view, reading }, findings: [] });
    }
  }

  readAgain(...agents: string[]): Promise<boolean> {
    return this.#board.restore(new Set(agents));
  }

  acknowledge(): Promise<unknown> {
    return Promise.all(this.#board.open().map((open) => this.#keeper.acknowledge(open, false)));
  }

  async round(isLast = false): Promise<void> {
    see(this.#board, [...this.#seen.values()]);
    this.#host.look(this.#board.views(), { database: null, disk: null, servers: [] });
    this.#keeper.round(isLast);
    await this.#keeper.settled();
  }

  /** Ticks for so long. */
  async pass(ms: number): Promise<void> {
    const endMs = this.nowMs + ms;
    for (; this.nowMs < endMs; this.nowMs += 2_000) await this.round();
  }
}

async function started(): Promise<Host> {
  const host = new Host();
  await host.start();
  return host;
}

it('whom some channels reached was told, once; the other channels are tried on until they have it too', async () => {
  const host = await started();
  host.reaches = 'none';
  host.end('a');
  await host.pass(10_000);
  expect(host.incidents()).toMatchObject([{ tells: 0, lastTellMs: null }]);
  host.reaches = 'some';
  await host.pass(minute);
  const tries = host.told.length;
  expect(tries).toBeGreaterThan(2);
  expect(host.incidents()).toMatchObject([{ tells: 1, lastTellMs: null }]);
  host.reaches = 'all';
  await host.pass(2 * minute);
  expect(host.told).toHaveLength(tries + 1);
  expect(host.incidents()).toMatchObject([{ tells: 1, lastTellMs: expect.any(Number) }]);
  await host.pass(30 * minute);
  expect(host.incidents()).toMatchObject([{ tells: 2 }]);
});

describe('many agents in one trouble', () => {
  it('are told as one, once while nothing is new', async () => {
    const host = await started();
    host.end('a', 'b', 'c');
    await host.pass(3 * minute);
    expect(host.told).toEqual(['host: mass-failure']);
  });

  it('others, long after it was told and acknowledged, are told anew, once', async () => {
    const host = await started();
    host.live('d', 'e', 'f');
    host.end('a', 'b', 'c');
    await host.pass(minute);
    await host.acknowledge();
    await host.pass(10 * minute);
    expect(host.told).toEqual(['host: mass-failure']);
    host.end('d', 'e', 'f');
    await host.pass(minute);
    expect(host.told).toEqual(['host: mass-failure', 'host: mass-failure']);
    await host.acknowledge();
    await host.pass(60 * minute);
    expect(host.told).toHaveLength(2);
  });

  it('others soon after are part of the same', async () => {
    const host = await started();
    host.live('d', 'e', 'f');
    host.end('a', 'b', 'c');
    await host.pass(minute);
    host.end('d', 'e', 'f');
    await host.pass(2 * minute);
    expect(host.told).toEqual(['host: mass-failure']);
  });

  it('are still in the same one when they were out of it for a moment; after a while it is over', async () => {
    const host = await started();
    host.end('a', 'b', 'c');
    await host.pass(minute);
    const mass = () => host.incidents().filter(({ check }) => check === 'mass-failure');
    host.live('a', 'b', 'c');
    await host.pass(minute);
    expect(mass()).toMatchObject([{ closedMs: null }]);
    host.end('a', 'b', 'c');
    await host.pass(minute);
    expect(host.told).toEqual(['host: mass-failure']);
    host.live('a', 'b', 'c');
    await host.pass(6 * minute);
    expect(mass()).toMatchObject([{ closedMs: expect.any(Number) }]);
  });
});

describe('of an agent that another daemon has', () => {
  it('nothing is opened or told, until it is ours', async () => {
    const host = await started();
    host.elsewhere.add('a');
    host.end('a');
    await host.pass(minute);
    expect([host.told, host.incidents()]).toEqual([[], []]);
    host.elsewhere.clear();
    await host.pass(minute);
    expect(host.told).toEqual(['a: ended-unexpectedly']);
  });

  it('nothing that is open is closed or told again; taken over, it goes on as the other one left it', async () => {
    const host = await started();
    host.end('a');
    await host.pass(minute);
    host.elsewhere.add('a');
    host.live('a');
    await host.pass(60 * minute);
    expect(host.incidents('open')).toMatchObject([{ check: 'ended-unexpectedly', tells: 1 }]);
    // On one database the other one has told it again since.
    for (const row of host.incidents('open')) Object.assign(row, { tells: 5 });
    host.elsewhere.clear();
    expect(await host.readAgain('a')).toBe(true);
    await host.pass(minute);
    expect(host.incidents()).toMatchObject([{ tells: 5, closedMs: expect.any(Number) }]);
    expect(host.told).toHaveLength(1);
  });
});

describe('what an earlier run left open', () => {
  /** A trouble of each of three agents and one of the host: over by the time it is started anew. */
  async function leftOpen(): Promise<Host> {
    const host = await started();
    host.end('a', 'b', 'c');
    await host.round();
    expect(host.incidents('open')).toHaveLength(4);
    host.nowMs += 20 * minute;
    await host.start();
    host.live('a', 'b', 'c');
    return host;
  }

  it('stays open while the agents’ records are being read, and is closed then', async () => {
    const host = await leftOpen();
    await host.round();
    expect(host.incidents('open')).toHaveLength(4);
    await host.pass(20_000);
    expect(host.incidents('open')).toEqual([]);
  });

  it('is closed at once by a single run, which has looked as often as it needs', async () => {
    const host = await leftOpen();
    await host.round(true);
    expect(host.incidents('open')).toEqual([]);
  });
});
