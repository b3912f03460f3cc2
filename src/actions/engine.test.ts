// Whatever is done has a row first, is done once, and has an outcome in the end: of every kind of deed, wherever the daemon
// is killed.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { examples } from '../../test/runs/deed-orders.ts';
import { TypedAgent } from '../../test/runs/typed-agent.ts';
import type { DeedKind } from '../model/action.ts';
import * as all from './deeds/all.ts';
import { enginePoints, type OrderOf } from './engine.ts';

const kinds = Object.keys(all) as DeedKind[];

/** A deed on its way, and a daemon that comes to an end at one of its points. */
class Run {
  readonly agent: TypedAgent;
  readonly #kind: DeedKind;
  readonly #killAt: string | null;
  #told = 0;
  reached: string[] = [];
  /** As many rows as there were when it was done. */
  rowsWhenDone: number | null = null;

  constructor(kind: DeedKind, killAt: string | null = null) {
    this.#kind = kind;
    this.#killAt = killAt;
    this.agent = new TypedAgent();
    examples[kind].before?.(this.agent);
    this.#start((point) => this.#comes(point));
  }

  get times(): number {
    return examples[this.#kind].done?.(this.agent) ?? this.#told;
  }

  get outcomes(): (string | null)[][] {
    return this.agent.ledger.actions.map(({ id }) => this.agent.ledger.of(id));
  }

  /** Until it is done, or the daemon is dead. */
  async go(): Promise<void> {
    const dead = vi.waitUntil(() => this.reached.at(-1) === this.#killAt, { timeout: 10_000 });
    const order = examples[this.#kind].order(() => this.#did()) as OrderOf<DeedKind>;
    const done = this.agent.actions.do(this.#kind, order);
    await (this.#killAt === null ? done : Promise.race([dead, done]));
    if (this.#killAt === null) dead.catch(() => {});
  }

  /** The next daemon: it takes up what was left, and reads the client's record. Then a minute passes. */
  async again(): Promise<void> {
    vi.useFakeTimers();
    this.#start(async () => {});
    expect(await this.agent.actions.recover()).toBe(true);
    for (const event of [...this.agent.records]) this.agent.actions.told('a-ps', event);
    await vi.advanceTimersByTimeAsync(60_000);
    vi.useRealTimers();
  }

  #start(at: (point: string) => Promise<void>): void {
    const config = () => this.agent.config;
    this.agent.start({ config, at: (_kind, point) => at(point), notice: () => this.#did() });
  }

  #did(): void {
    this.#told += 1;
  }

  /** Nothing that a killed daemon waits for ever comes back. */
  async #comes(point: string): Promise<void> {
    this.reached.push(point);
    if (this.times > 0) this.rowsWhenDone ??= this.agent.ledger.actions.length;
    if (point === this.#killAt) await new Promise(() => {});
  }
}

function pointsOf(kind: DeedKind): string[] {
  const [asked, intended, ...after] = enginePoints;
  return [asked, intended, ...new TypedAgent().actions.deeds[kind].points, ...after];
}

afterEach(() => vi.useRealTimers());

describe.each(kinds)('%s', (kind) => {
  it('passes each of its points, with a row before it is done, once, and an outcome after', async () => {
    const run = new Run(kind);
    await run.go();
    expect(run.reached).toEqual(pointsOf(kind));
    expect([run.times, run.rowsWhenDone]).toEqual([1, 1]);
    expect(run.outcomes).toEqual([[expect.stringMatching(/^(?:confirmed|told)$/)]]);
    expect(run.agent.ledger.actions.map(({ intent }) => intent.by)).toEqual(['human me']);
  });

  it.each(pointsOf(kind))('killed when it has come to `%s`, it is done at most once, and settled', async (killAt) => {
    const run = new Run(kind, killAt);
    await run.go();
    expect(run.reached.at(-1)).toBe(killAt);
    const timesBefore = run.times;
    await run.again();
    expect(run.times).toBe(timesBefore);
    expect(timesBefore).toBeLessThanOrEqual(1);
    if (run.times > 0) expect(run.rowsWhenDone).toBe(1);
    if (killAt === 'asked') expect([run.times, run.outcomes]).toEqual([0, []]);
    else expect(run.outcomes).toEqual([[expect.stringMatching(/^(?:confirmed|told|uncertain)$/)]]);
    // Nobody says that something was done that was not.
    if (run.times === 0 && killAt !== 'asked') expect(run.outcomes).toEqual([['uncertain']]);
  });
});

describe('what the client has on record', () => {
  it.each<DeedKind>(['prompt', 'command', 'interrupt'])('settles a %s of a daemon that was killed', async (kind) => {
    const run = new Run(kind, kind === 'interrupt' ? 'pressed' : 'entered');
    await run.go();
    await run.again();
    expect([run.times, run.outcomes]).toEqual([1, [['confirmed']]]);
  });
});
