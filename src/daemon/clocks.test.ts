// Wall clocks that are set, ahead, behind or right again, and machines that sleep: what is told and typed stays what it would have been.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentView, viewNowMs } from '../../test/runs/agent-view.ts';
import { found, madeBoard, see } from '../../test/runs/made-board.ts';
import { defaultConfig } from '../config/schema.ts';
import { peopleBySteadyClock } from '../decide/steady-people.ts';
import type { Board } from '../findings/board.ts';
import type { Sighting } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import type { Deeds } from '../model/deeds.ts';
import type { Incident } from '../model/incident.ts';
import { keepNotAfter } from '../model/not-after.ts';
import { ok } from '../model/result.ts';
import { Keeper } from '../rules/keeper.ts';
import { Scores } from '../rules/scores.ts';
import { Spoken } from '../rules/spoken.ts';
import { WatchfulClock } from '../watch/watchful-clock.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const tickMs = 2_000;
const config = defaultConfig();
const repeatMs = config.waiting.repeatMinutes * minute;

/** A machine with two agents in trouble for good: one that may be prompted, one that waits for a human. */
class Machine {
  /** What the wall clock is wrong by. */
  wrongMs = 0;
  /** As a clock has it that is right, and as one that stands still while the machine sleeps. */
  realMs = 0;
  awakeMs = 0;
  /** When, by a clock that is right. */
  readonly prompts: number[] = [];
  /** When, of the time that somebody was awake to look. */
  readonly tells: number[] = [];
  readonly rows = new Map<string, Incident>();
  /** As the ledger has them: when, by the wall clock of that moment. */
  readonly #said: { finding: string; agent: string; trigger: `rule:${string}`; atMs: number }[] = [];
  #clock!: WatchfulClock;
  #board!: Board;
  #keeper!: Keeper;

  get nowMs(): number {
    return viewNowMs + this.realMs + this.wrongMs;
  }

  async start(aheadMs = 0): Promise<void> {
    this.#clock = new WatchfulClock({ nowMs: () => this.nowMs, monotonicMs: () => this.awakeMs });
    const open = () => [...this.rows.values()].filter(({ closedMs }) => closedMs === null);
    const spoken = new Spoken({
      ...{ host: 'h', clock: this.#clock, config: () => config },
      store: { lastRulePrompts: async () => ok(this.#said.map((one) => ({ ...one, host: 'h', project: one.agent }))) },
    });
    const common = {
      host: 'h',
      clock: this.#clock,
      config: () => config,
      store: {
        // As they come through the border.
        openIncidents: async () => {
          const rows = structuredClone(open());
          for (const row of rows) keepNotAfter(row, this.nowMs);
          return ok(rows);
        },
        recentScores: async () => ok([]),
        deedsAbout: async (findings: string[]) =>
          ok(new Map(findings.map((finding) => [finding, this.#deeds(finding)]))),
        saveIncident: async (incident: Incident) => {
          this.rows.set(incident.id, structuredClone(incident));
          return ok(undefined);
        },
        saveScore: async () => ok(undefined),
      } as never,
    };
    this.#board = madeBoard(common);
    const keeper = new Keeper({
      ...{ ...common, board: this.#board },
      paused: () => false,
      quietUntilMs: () => null,
      actions: {
        prompt: async ({
          finding,
          agent,
          trigger,
        }: {
          finding: string;
          agent: string;
          trigger: 'rule:silent-stop';
        }) => {
          this.prompts.push(this.realMs);
          this.#said.push({ finding, agent, trigger, atMs: this.nowMs });
          return { outcome: 'confirmed', reason: null };
        },
        tell: async ({ agent }: Incident) => {
          if (agent === 'b') this.tells.push(this.awakeMs);
          return 'all';
        },
      } as never,
      isOneOfMany: () => null,
      spoken,
      hold: () => 'ours',
      isElsewhere: () => false,
      isReadUp: () => true,
      isHandedOver: () => false,
      scores: new Scores({ promptedBy: () => null, interruptedByUs: () => false, spawnStatus: () => null }),
      failed: (error) => {
        throw error;
      },
    });
    this.#keeper = keeper;
    this.#clock.onSet((byMs, nowMs) => {
      this.#board.clockSet(byMs, nowMs);
      spoken.clockSet(byMs, nowMs);
    });
    await spoken.restore();
    await this.#board.restore();
    if (aheadMs > minute) this.#clock.tell(aheadMs, this.nowMs);
    await this.#round();
  }

  #deeds(finding: string): Deeds {
    const about = this.#said.filter((one) => one.finding === finding);
    const lastPromptMs = about.length === 0 ? null : Math.max(...about.map(({ atMs }) => atMs));
    return { prompts: about.length, lastPromptMs, tells: 0, lastTellMs: null, isProved: true, leftovers: [] };
  }

  #seen() {
    const seen = (agent: string, check: CheckName, more: Partial<Sighting>) => {
      const view = agentView('idle', null, 1, { agent, project: agent, ...more });
      return {
        view: { ...view, reading: { ...view.reading, seenAtMs: this.#clock.nowMs() } },
        findings: [found(check)],
      };
    };
    return [
      seen('a', 'silent-stop', { lastTurn: 'failed', lastTurnAtMs: viewNowMs - 1_000 }),
      seen('b', 'waiting-human', { authority: 'observe' }),
    ];
  }

  async #round(): Promise<void> {
    see(this.#board, this.#seen());
    this.#keeper.round();
    await this.#keeper.settled();
  }

  async run(ms: number): Promise<void> {
    for (const endMs = this.awakeMs + ms; this.awakeMs < endMs; ) {
      this.awakeMs += tickMs;
      this.realMs += tickMs;
      await this.#round();
    }
  }

  async set(wrongMs: number): Promise<void> {
    this.wrongMs = wrongMs;
    await this.#round();
  }

  async sleep(ms: number): Promise<void> {
    this.realMs += ms;
    await this.#round();
  }

  /** Between two runs the clock is set. */
  async restart(wrongMs: number): Promise<void> {
    const aheadMs = wrongMs - this.wrongMs;
    this.wrongMs = wrongMs;
    await this.start(aheadMs);
  }
}

/** So long without any trouble with clocks. */
async function undisturbed(ms: number): Promise<Machine> {
  const machine = new Machine();
  await machine.start();
  await machine.run(ms);
  return machine;
}

function expectAsEver(machine: Machine, disturbed: readonly number[], before: Machine): void {
  // Nothing is typed more often or sooner than it would have been.
  expect(machine.prompts.length).toBeLessThanOrEqual(before.prompts.length);
  const gaps = ({ prompts }: Machine) => prompts.slice(1).map((atMs, index) => atMs - (prompts[index] ?? 0));
  for (const [index, gapMs] of gaps(machine).entries())
    expect(gapMs).toBeGreaterThanOrEqual((gaps(before)[index] ?? 0) - tickMs);
  // From the last word, or from when the clock was last set, no more than an interval without one.
  const words = [...machine.tells, machine.awakeMs];
  for (const [index, atMs] of words.entries()) {
    const last = Math.max(words[index - 1] ?? 0, ...disturbed.filter((each) => each <= atMs));
    expect(atMs - last).toBeLessThanOrEqual(repeatMs + 2 * tickMs);
  }
  const open = [...machine.rows.values()].filter(({ closedMs }) => closedMs === null);
  expect(open.map(({ agent }) => agent).sort()).toEqual(['a', 'b']);
  expect(machine.rows.size).toBe(2);
}

const shifts = [-40 * day, -2 * hour, 2 * hour, 40 * day];

describe('rules and escalations', () => {
  it.each(shifts)('are as ever with a clock that is set by %d ms, and right again', async (wrongMs) => {
    const machine = await undisturbed(7 * minute);
    const disturbed = [machine.awakeMs];
    await machine.set(wrongMs);
    await machine.run(3 * minute);
    disturbed.push(machine.awakeMs);
    await machine.set(0);
    await machine.run(70 * minute);
    expect(machine.prompts.length).toBe(3);
    expectAsEver(machine, disturbed, await undisturbed(80 * minute));
  });

  it.each(shifts)(
    'are as ever with a clock that is off by %d ms at a start, and right at the next',
    async (wrongMs) => {
      const machine = await undisturbed(7 * minute);
      const disturbed = [machine.awakeMs];
      await machine.restart(wrongMs);
      await machine.run(32 * minute);
      disturbed.push(machine.awakeMs);
      await machine.restart(0);
      await machine.run(70 * minute);
      expect(machine.prompts.length).toBe(3);
      expectAsEver(machine, disturbed, await undisturbed(110 * minute));
    },
  );

  it('are as ever on a machine that sleeps in between', async () => {
    const machine = await undisturbed(7 * minute);
    const disturbed: number[] = [];
    for (const ms of [2 * hour, 40 * day]) {
      await machine.sleep(ms);
      await machine.run(20 * minute);
    }
    expectAsEver(machine, disturbed, await undisturbed(47 * minute));
  });

  it('are as ever whatever happens to the clock, in whatever order', async () => {
    const what = fc.oneof(
      fc.record({ do: fc.constant('run' as const), ms: fc.integer({ min: 1, max: 20 }).map((n) => n * minute) }),
      fc.record({ do: fc.constant('set' as const), ms: fc.constantFrom(0, ...shifts) }),
      fc.record({ do: fc.constant('restart' as const), ms: fc.constantFrom(0, ...shifts) }),
      fc.record({ do: fc.constant('sleep' as const), ms: fc.constantFrom(minute, 2 * hour, 3 * day) }),
    );
    const before = await undisturbed(5 * hour);
    await fc.assert(
      fc.asyncProperty(fc.array(what, { maxLength: 12 }), async (steps) => {
        const machine = await undisturbed(minute);
        const disturbed: number[] = [];
        for (const { do: deed, ms } of steps) {
          if (deed !== 'run') disturbed.push(machine.awakeMs);
          await machine[deed](ms);
        }
        await machine.run(repeatMs + minute);
        expectAsEver(machine, disturbed, before);
      }),
      { numRuns: 40 },
    );
  }, 120_000);
});

describe('a person at the keyboard', () => {
  it('is not trusted to have been quiet by a clock that was set while no daemon ran', () => {
    const clock = new WatchfulClock({ nowMs: () => viewNowMs + hour, monotonicMs: () => 5_000 });
    expect(clock.trust().steadyForMs).toBe(Number.POSITIVE_INFINITY);
    clock.tell(hour, viewNowMs + hour);
    expect(clock.trust().steadyForMs).toBe(0);
  });

  const nowMs = viewNowMs;
  const quiet = (activeAtMs: number, steadyForMs: number, knownForMs = 5_000) => {
    const [person] = peopleBySteadyClock([{ activeAtMs }], { steadyForMs, knownForMs }, nowMs);
    return nowMs - (person?.activeAtMs ?? 0);
  };

  it.each([
    ['a second ago, and the clock was never set', nowMs - 1_000, Number.POSITIVE_INFINITY, 1_000],
    ['an hour ago, and the clock was never set', nowMs - hour, Number.POSITIVE_INFINITY, hour],
    ['it seems an hour ago, but the clock was set ahead 3 s ago', nowMs - hour, 3_000, 3_000],
    ['since the clock was set', nowMs - 1_000, 3_000, 1_000],
    ['in this second, which is counted whole', nowMs + 900, Number.POSITIVE_INFINITY, -900],
    ['in the future: before the clock was set back 3 s ago', nowMs + hour, 3_000, 3_000],
    ['in the future, since before this run', nowMs + hour, Number.POSITIVE_INFINITY, 5_000],
  ])('was active %s', (_name, activeAtMs, steadyForMs, quietMs) =>
    expect(quiet(activeAtMs, steadyForMs)).toBe(quietMs),
  );
});
