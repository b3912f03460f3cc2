// When a handoff does nothing: nobody lets it, or what is known of its agent is not of now.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { agentView } from '../../test/runs/agent-view.ts';
import { goodDocument } from '../../test/runs/handoff-document.ts';
import { openAllowances } from '../actions/allowances.ts';
import { defaultConfig } from '../config/schema.ts';
import { findHome } from '../home/home.ts';
import type { State } from '../model/agent.ts';
import { type Handoff, type HandoffAction, type HandoffStep, isOpen, stepOf } from '../model/handoff.ts';
import { fail, ok } from '../model/result.ts';
import { Handoffs, type HandoffsParts } from './handoffs.ts';

const dir = mkdtempSync(path.join(os.tmpdir(), 'wk-held-back-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const way: readonly HandoffStep[] = ['requested', 'prompted', 'written', 'verified', 'saved', 'cleared', 'resumed'];

/** One agent with a full context, at its prompt; the rows, and what was typed to it. */
class Desk {
  readonly home = findHome({ WATCHKEEPER_HOME: mkdtempSync(path.join(dir, 'home-')) });
  readonly project = mkdtempSync(path.join(dir, 'project-'));
  readonly config = defaultConfig();
  readonly typed: string[] = [];
  readonly rows: Handoff[] = [];
  nowMs = Date.now();
  session = 'old';
  state: State = 'idle';
  isDue = false;
  isBehind = false;
  /** Its last look went well. */
  isSeen = true;
  isPaused = false;
  /** The daemon has only just started. */
  quietUntilMs: number | null = null;
  /** Whose wish the open one is. */
  by: 'rule' | 'human ann' | null = 'human ann';
  /** The database does not answer: nothing can be read or written. */
  isLedgerGone = false;
  /** It asks before it writes, and no hook answers. */
  wouldStand = false;
  /** Its disk is full: what is there can be read. */
  isFull = false;
  /** As the last prompt was asked for: whether it is still to be typed when its turn comes. */
  isStillDue: (() => boolean) | undefined;
  #daemon!: Handoffs;

  constructor() {
    openAllowances(this.home, this.nowMs);
  }

  /** One that has come to this step. */
  has(step: HandoffStep): void {
    const steps = way.slice(0, way.indexOf(step) + 1);
    const isCleared = steps.includes('cleared');
    this.rows.push({
      id: 'h',
      host: 'h',
      agent: 'a-ps',
      project: 'a',
      trigger: this.by === 'human ann' ? 'human' : 'rule:at-percent',
      by: this.by,
      recipe: 'document',
      nonce: 'abcd1234',
      file: path.join(this.project, 'handoff-1.md'),
      cwd: this.project,
      oldSession: 'old',
      newSession: isCleared ? 'new' : null,
      requestedMs: this.nowMs,
      steps: steps.map((name) => ({ step: name, atMs: this.nowMs, reason: null })),
      sha256: steps.includes('saved') ? 'sha' : null,
      sentBack: 0,
      acked: false,
    });
    this.session = isCleared ? 'new' : 'old';
  }

  /** Also again: what the one before knew is lost, but for the rows and files. */
  async start(): Promise<void> {
    this.#daemon = new Handoffs(this.#parts());
    await this.#daemon.restore();
  }

  async rounds(count: number): Promise<void> {
    for (let n = 0; n < count; n += 1) {
      this.nowMs += 60_000;
      this.#daemon.round([this.#view()]);
      await this.#daemon.settled();
    }
  }

  /** Why a rule will begin one. */
  get coming(): string | null {
    return this.#daemon.coming('a-ps');
  }

  /** What hooks would answer by. */
  get allowances(): string[] {
    return readdirSync(this.home.allowancesDir).filter((name) => name !== 'answer');
  }

  get steps(): string[] {
    return this.rows.map((row) => row.steps.map(({ step }) => step).join(' '));
  }

  #view() {
    return agentView(this.state, null, 1, { cwd: this.project, sessionId: this.session });
  }

  #parts(): HandoffsParts {
    const type = async (what: string) => {
      this.typed.push(what);
      const result = { id: 'i', agent: 'a-ps', outcome: 'refused', reason: 'busy', proof_ms: null } as const;
      return { ...result, tag: '', proof: null, answer: null };
    };
    const gone = fail('unavailable', 'the database is gone');
    const row = (id: string) => this.rows.find((each) => each.id === id);
    return {
      host: 'h',
      hold: () => 'ours',
      isElsewhere: () => false,
      running: () => [],
      directory: () => null,
      hasSession: () => true,
      odd: () => {},
      home: this.home,
      uid: process.getuid?.() ?? 0,
      clock: { nowMs: () => this.nowMs, monotonicMs: () => this.nowMs },
      git: { head: async () => null, hasCommit: async () => 'no' },
      config: () => this.config,
      configFor: () => this.config,
      handoffWaits: () => this.wouldStand,
      paused: () => this.isPaused,
      quietUntilMs: () => this.quietUntilMs,
      agent: () =>
        ({
          seen: { client: { name: 'claude-code' }, place: {}, configDir: null },
          sessionId: this.session,
          isBehind: this.isBehind,
          handoffDue: () => ({ now: this.isDue, percent: 90, reason: 'at-percent' }),
        }) as never,
      board: {
        about: () => null,
        findings: () => [],
        post: () => {},
        view: () => (this.isSeen ? this.#view() : null),
        views: () => (this.isSeen ? [this.#view()] : []),
      },
      flush: async () => true,
      news: () => {},
      failed: (error) => {
        throw error;
      },
      store: {
        beginHandoff: async (handoff) => {
          if (this.isLedgerGone) return gone;
          this.rows.push(structuredClone(handoff));
          return ok(undefined);
        },
        takeHandoffStep: async (id, _from, taken) => {
          if (this.isLedgerGone || this.isFull) return gone;
          row(id)?.steps.push({ ...taken });
          return ok(undefined);
        },
        oddHandoffs: async () => ok([]),
        endOddHandoff: async () => ok(undefined),
        loadHandoffs: async () => ok(structuredClone(this.rows)),
        handoffText: async () => ok(goodDocument('abcd1234')),
        handoffActions: async (id) => (this.isLedgerGone ? gone : ok(ledgerOf(row(id)?.steps ?? []))),
      },
      actions: {
        prompt: async ({ isStillDue }) => {
          this.isStillDue = isStillDue;
          return type('prompt');
        },
        clear: () => type('clear'),
        resume: () => type('go-back'),
        run: () => type('command'),
        interrupt: () => type('interrupt'),
      },
    };
  }
}

/** What the ledger says of one that came so far. */
function ledgerOf(steps: Handoff['steps']): HandoffAction[] {
  const action = (deed: 'ask' | 'clear', before: HandoffStep): HandoffAction[] => {
    const after = steps.findIndex(({ step }) => step === before);
    const outcomes = [{ outcome: 'uncertain', reason: null }];
    return after === -1 ? [] : [{ id: deed, deed, after, why: null, atMs: steps[0]?.atMs ?? 0, outcomes, typed: null }];
  };
  return [...action('ask', 'prompted'), ...action('clear', 'cleared')];
}

async function desk(step: HandoffStep | null): Promise<Desk> {
  const made = new Desk();
  if (step !== null) made.has(step);
  await made.start();
  return made;
}

describe('while its agent’s record is not read to the end', () => {
  it.each(way)('nothing is decided; then it goes on (%s)', async (step) => {
    const world = await desk(step);
    const before = [...world.steps];
    world.isBehind = true;
    await world.rounds(3);
    expect([world.typed, world.steps]).toEqual([[], before]);
    world.isBehind = false;
    await world.rounds(1);
    // The last one waits in any case, for what the agent does next.
    expect(world.typed.length > 0 || world.steps[0] !== before[0]).toBe(step !== 'resumed');
  });

  it.each(way.filter((step) => step !== 'resumed'))(
    'another session of that moment is not taken for the agent’s own (%s)',
    async (step) => {
      const world = await desk(step);
      const before = [...world.steps];
      const { session } = world;
      world.isBehind = true;
      world.session = 'of an hour ago';
      await world.rounds(3);
      expect([world.typed, world.steps]).toEqual([[], before]);
      world.session = session;
      world.isBehind = false;
      await world.rounds(1);
      expect(world.steps[0]).not.toContain('failed');
    },
  );
});

it('an agent that is there and could not be looked at yet has not ended', async () => {
  const world = await desk('saved');
  world.isSeen = false;
  await world.rounds(3);
  expect([world.typed, world.steps]).toEqual([[], [way.slice(0, 5).join(' ')]]);
});

it('its request is for the session that was to be handed over, and for no other that is there when its turn comes', async () => {
  const world = await desk('requested');
  await world.rounds(1);
  expect([world.typed, world.isStillDue?.()]).toEqual([['prompt'], true]);
  world.session = 'another';
  expect(world.isStillDue?.()).toBe(false);
});

describe('without its database', () => {
  it.each(way)('nothing is typed and no step is taken; then it goes on (%s)', async (step) => {
    const world = await desk(step);
    const before = [...world.steps];
    world.isLedgerGone = true;
    await world.rounds(3);
    expect([world.typed, world.steps]).toEqual([[], before]);
    world.isLedgerGone = false;
    await world.rounds(1);
    expect(world.typed.length > 0 || world.steps[0] !== before[0]).toBe(step !== 'resumed');
  });

  it.each(way)('nor when it cannot write: a step that is not stored is not taken (%s)', async (step) => {
    const world = await desk(step);
    const before = [...world.steps];
    world.isFull = true;
    await world.rounds(6);
    expect(world.steps).toEqual(before);
    // Asked again it may be; cleared only where the document is stored.
    expect(world.typed).not.toContain('clear');
  });

  it('none is begun', async () => {
    const world = await desk(null);
    Object.assign(world, { isDue: true, isLedgerGone: true });
    await world.rounds(3);
    expect([world.typed, world.steps]).toEqual([[], []]);
  });
});

describe('of an agent of which nobody knows what it does', () => {
  it.each(way)('nothing is typed (%s)', async (step) => {
    const world = await desk(step);
    world.state = 'unknown';
    await world.rounds(30);
    expect(world.typed).toEqual([]);
  });

  it('no handoff is begun', async () => {
    const world = await desk(null);
    Object.assign(world, { isDue: true, state: 'unknown' });
    await world.rounds(3);
    expect([world.typed, world.steps]).toEqual([[], []]);
  });
});

describe('held back in the middle', () => {
  const holds: [string, (world: Desk) => void][] = [
    ['a pause', (world) => Object.assign(world, { isPaused: true })],
    ['watch mode', (world) => Object.assign(world.config, { mode: 'watch' })],
  ];
  it.each(holds.flatMap(([what, hold]) => way.map((step) => [what, step, hold] as const)))(
    'by %s nothing more is typed (%s)',
    async (_what, step, hold) => {
      const world = await desk(step);
      hold(world);
      await world.rounds(30);
      expect(world.typed).toEqual([]);
    },
  );
});

describe('so soon after a start', () => {
  it('no rule begins one; it is known that it will, and why; then it is begun', async () => {
    const world = await desk(null);
    Object.assign(world, { isDue: true, quietUntilMs: world.nowMs + 1 });
    await world.rounds(5);
    expect([world.steps, world.typed, world.coming]).toEqual([[], [], 'at-percent']);
    world.quietUntilMs = null;
    await world.rounds(2);
    expect([world.rows.filter(isOpen).length, world.typed, world.coming]).toEqual([1, ['prompt'], null]);
  });

  it('nor is it said that one will be begun where nothing may be done', async () => {
    const world = await desk(null);
    Object.assign(world, { isDue: true, quietUntilMs: world.nowMs + 1, isPaused: true });
    await world.rounds(1);
    expect([world.steps, world.coming]).toEqual([[], null]);
  });

  it.each(['rule', null] as const)('one that a rule began goes on when rules may act again: %s', async (by) => {
    for (const step of way.filter((each) => each !== 'resumed')) {
      const world = new Desk();
      Object.assign(world, { by, quietUntilMs: world.nowMs + 1 });
      world.has(step);
      await world.start();
      const before = [...world.steps];
      await world.rounds(30);
      expect([world.typed, world.steps]).toEqual([[], before]);
      world.quietUntilMs = null;
      await world.rounds(1);
      expect(world.typed.length > 0 || world.steps[0] !== before[0], step).toBe(true);
    }
  });

  it('one that a person asked for goes on at once', async () => {
    const world = new Desk();
    world.has('requested');
    world.quietUntilMs = world.nowMs + 1;
    await world.start();
    await world.rounds(1);
    expect(world.typed).toEqual(['prompt']);
  });

  it('an agent that was asked for its document may write it meanwhile: no dialog opens with nobody there', async () => {
    const world = new Desk();
    Object.assign(world, { by: 'rule', quietUntilMs: world.nowMs + 1 });
    world.has('prompted');
    await world.start();
    await world.rounds(2);
    expect([world.typed, world.allowances.length]).toEqual([[], 1]);
  });
});

describe('in watch mode', () => {
  it('a due handoff is put on record once, and is no try: it is begun when there is more than watching', async () => {
    const world = await desk(null);
    world.isDue = true;
    world.config.mode = 'watch';
    await world.rounds(10);
    expect([world.steps, world.typed]).toEqual([['requested failed'], []]);
    expect(world.rows[0]?.steps.at(-1)?.reason).toBe('watch-mode');
    world.config.mode = 'act';
    await world.rounds(2);
    expect(world.rows.filter(isOpen)).toHaveLength(1);
    expect(world.typed).toEqual(['prompt']);
  });

  it.each<HandoffStep>(['prompted', 'written'])('the agent may not write without a dialog (%s)', async (step) => {
    const world = await desk(step);
    world.config.mode = 'watch';
    await world.rounds(2);
    expect([stepOf(world.rows[0] as Handoff), world.allowances]).toEqual([step, []]);
  });

  it.each<[string, (world: Desk, held: boolean) => void]>([
    [
      'watch mode',
      (world, held) => {
        world.config.mode = held ? 'watch' : 'act';
      },
    ],
    [
      'a pause',
      (world, held) => {
        world.isPaused = held;
      },
    ],
  ])('what it might write is withdrawn with %s, also by the next daemon, and given again after it', async (_, hold) => {
    const world = await desk('prompted');
    await world.rounds(1);
    expect(world.allowances).toHaveLength(1);
    hold(world, true);
    await world.rounds(1);
    expect(world.allowances).toEqual([]);
    hold(world, false);
    await world.rounds(1);
    expect(world.allowances).toHaveLength(1);
    hold(world, true);
    await world.start();
    await world.rounds(1);
    expect(world.allowances).toEqual([]);
  });
});

it('it may still write when a usage limit of hours is over', async () => {
  const world = await desk('prompted');
  world.state = 'limited';
  await world.rounds(200);
  expect(world.allowances).toHaveLength(1);
  const file = path.join(world.home.allowancesDir, world.allowances[0] as string);
  expect(JSON.parse(readFileSync(file, 'utf8')).untilMs).toBeGreaterThan(world.nowMs);
});

it('what an earlier daemon allowed is withdrawn when the document is stored', async () => {
  const world = await desk('prompted');
  await world.rounds(1);
  expect(world.allowances).toHaveLength(1);
  world.rows.splice(0);
  world.has('saved');
  world.isBehind = true;
  await world.start();
  await world.rounds(1);
  expect(world.allowances).toEqual([]);
});

describe('where only a person could let the agent write', () => {
  it('a rule asks for nothing and says so once, and begins as soon as a hook answers', async () => {
    const desk = new Desk();
    Object.assign(desk, { isDue: true, wouldStand: true });
    await desk.start();
    await desk.rounds(200);
    expect(desk.steps).toEqual(['requested failed']);
    expect(desk.rows[0]?.steps.at(-1)?.reason).toBe('no-permission-hook');
    expect(desk.typed).toEqual([]);
    desk.wouldStand = false;
    await desk.rounds(2);
    expect(desk.rows).toHaveLength(2);
    expect(desk.typed).not.toEqual([]);
  });

  it("a person's own goes on", async () => {
    const desk = new Desk();
    desk.wouldStand = true;
    desk.has('requested');
    await desk.start();
    await desk.rounds(1);
    expect(desk.typed).not.toEqual([]);
  });
});
