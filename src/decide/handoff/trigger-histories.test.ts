// Whether the trigger leaves room to write a handoff, how often it begins one and how early, over thousands of histories.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { dice, generated, type History, realHistories, shapes } from '../../../test/fixtures/context-histories.ts';
import { type HandoffFigure, type HandoffPolicy, reckoned, shouldHandOff } from './trigger.ts';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const policy: HandoffPolicy = { atPercent: 85, compaction: 'forestall' };
const { writing, stepMin, stepMax } = reckoned;
const coursesMax = 300;

interface Client {
  name: string;
  window: number;
  compactsAt: number | null;
}
const clients: Client[] = [
  { name: '200,000, compacts at 167,000', window: 200_000, compactsAt: 167_000 },
  { name: '200,000, does not compact', window: 200_000, compactsAt: null },
  { name: '1,000,000, compacts at 967,000', window: 1_000_000, compactsAt: 967_000 },
];

/** The figures from one fresh start to the next. */
function stretches(history: History): number[][] {
  const all: number[][] = [[]];
  for (const [index, { used, compacted }] of history.entries()) {
    if (compacted !== null || used < (history[index - 1]?.used ?? 0) * 0.8) all.push([]);
    all.at(-1)?.push(used);
  }
  return all.filter((used) => used.length > 4);
}

/** The same work on top of what the session had read before, so that it comes to its end: as often as there is room. */
function filled(used: number[], window: number, random: () => number): number[][] {
  const first = used[0] ?? 0;
  const grown = Math.max(...used) - first;
  if (grown < 10_000) return [];
  return Array.from({ length: 3 }, () => {
    // Below half of the window nothing is decided.
    const start = window * (0.2 + 0.3 * random());
    const figures: number[] = [];
    for (let turn = 0; (figures.at(-1) ?? start) < window; turn += 1) {
      const base = figures.at(-1) ?? start;
      figures.push(...used.slice(turn === 0 ? 0 : 1).map((figure) => Math.round(base + figure - first)));
    }
    return figures;
  });
}

interface Course {
  /** Figures after the one at which the trigger began it; −1: it never did. */
  begun: number;
  percent: number;
  /** What there was to write in, when it began and after one more step. */
  room: number;
  roomAfterStep: number;
  /** A step up to there that was larger than all before it, and than a step has to be expected to be. */
  surprise: number | null;
  isEarly: boolean;
}

function course(used: readonly number[], { window, compactsAt }: Client): Course {
  const usable = window - 20_000;
  const end = Math.min(usable, 0.9 * window, compactsAt ?? window);
  const figures: HandoffFigure[] = [];
  for (const [index, figure] of used.entries()) {
    figures.push({ atMs: index * 1000, used: figure, window, usable, compacted: null, usedBefore: null });
    if (figure < 0.45 * window) continue;
    const due = shouldHandOff(figures.slice(-100), policy, { compactsAt, isWorking: true });
    if (!due.now) continue;
    const next = used[index + 1] ?? figure;
    return {
      begun: index,
      percent: (figure / window) * 100,
      room: end - figure,
      roomAfterStep: end - Math.max(figure, next),
      surprise: surpriseIn(used, index),
      isEarly: due.reason !== 'at-percent',
    };
  }
  return { begun: -1, percent: 0, room: 0, roomAfterStep: 0, surprise: null, isEarly: false };
}

/** Of the step that led to the beginning and the one after it. */
function surpriseIn(used: readonly number[], begun: number): number | null {
  for (const index of [begun, begun + 1]) {
    const step = (used[index] ?? 0) - (used[index - 1] ?? used[index] ?? 0);
    const before = used.slice(Math.max(1, index - 99), index - 1).map((figure, at) => {
      const last = used[Math.max(1, index - 99) + at - 1] ?? figure;
      return figure - last;
    });
    const expected = before.length < 3 ? stepMin : Math.min(stepMax, Math.max(stepMin, ...before));
    if (step > expected) return step;
  }
  return null;
}

interface Tally {
  name: string;
  client: Client;
  courses: Course[];
}
const tallies: Tally[] = [];

const random = dice(7);
const sources: [string, History[]][] = [
  ['real sessions', realHistories()],
  ...Object.entries(shapes).map(([name, shape]): [string, History[]] => [name, generated(shape, 20)]),
];

describe('the trigger leaves room to write a handoff whenever the step sizes allow it', { timeout: 60_000 }, () => {
  for (const client of clients) {
    it.each(sources)(`a window of ${client.name}: %s`, (name, histories) => {
      const all = histories.flatMap(stretches).flatMap((used) => filled(used, client.window, random));
      all.length = Math.min(all.length, coursesMax);
      const courses = all.map((used) => course(used, client));
      tallies.push({ name, client, courses });
      expect(courses.length).toBeGreaterThan(50);
      for (const { begun, room, roomAfterStep, surprise, percent } of courses) {
        expect(begun).not.toBe(-1);
        if (surprise !== null || begun === 0) continue;
        expect(roomAfterStep).toBeGreaterThanOrEqual(writing);
        expect(room).toBeGreaterThanOrEqual(writing);
        expect(percent).toBeLessThan(90);
      }
    });
  }

  it('on any course of steps that were seen to be possible', () => {
    const anyClient = fc.constantFrom(...clients);
    const steps = fc.array(fc.integer({ min: -3_000, max: stepMax }), { minLength: 3, maxLength: 12 });
    fc.assert(
      fc.property(anyClient, steps, fc.integer({ min: 1, max: 24_000 }), fc.nat(), (client, given, cap, seed) => {
        const rolled = dice(seed + 1);
        const used = [20_000];
        // The largest first, so that none is a surprise.
        const possible = [Math.min(cap, Math.max(...given, 100)), ...given.map((step) => Math.min(step, cap))];
        for (let turn = 0; (used.at(-1) ?? 0) < client.window && turn < 2_000; turn += 1) {
          const step = turn < 3 ? possible[0] : possible[Math.floor(rolled() * possible.length)];
          // A step as large as the largest comes up at least every fiftieth time, as the trigger looks at the last hundred.
          used.push(Math.max(1_000, (used.at(-1) ?? 0) + (turn % 50 === 0 ? (possible[0] ?? 0) : (step ?? 0))));
        }
        const { begun, roomAfterStep, percent } = course(used, client);
        if (begun === -1) return;
        expect(roomAfterStep).toBeGreaterThanOrEqual(writing);
        expect(percent).toBeLessThan(90);
      }),
      { numRuns: 100 },
    );
  });

  it('and never throws, whatever the figures are', () => {
    const figure = fc.record({
      atMs: fc.double(),
      used: fc.double(),
      window: fc.double(),
      usable: fc.double(),
      compacted: fc.option(fc.string()),
      usedBefore: fc.option(fc.double()),
    });
    fc.assert(
      fc.property(fc.array(figure), fc.option(fc.double()), fc.boolean(), (figures, compactsAt, isWorking) => {
        expect(typeof shouldHandOff(figures, policy, { compactsAt, isWorking }).now).toBe('boolean');
      }),
    );
  });
});

interface Approach {
  used: number[];
  end: number;
}
const endsEvery = 5_000;
const approaches: Approach[] = realHistories()
  .flatMap(stretches)
  .flatMap((used) =>
    Array.from({ length: 19 }, (_, index) => ({ used, end: 80_000 + index * endsEvery })).filter(
      ({ end }) => Math.max(...used) >= end && (used[0] ?? 0) <= end - 50_000,
    ),
  );

/** Other ways to reckon with what comes before a handoff can be written, by the steps so far. */
const guesses: Record<string, (steps: number[]) => number> = {
  'the largest of the last 20': (steps) => Math.max(...steps.slice(-20)),
  'the largest of the last 100, at least 8,000': (steps) => Math.max(...steps, 8_000),
  'the two largest of the last 100': (steps) => sum(steps.toSorted((a, b) => b - a).slice(0, 2)),
  'twice the largest of the last 100, each at least 8,000': (steps) => 2 * Math.max(...steps, 8_000),
  'twice the largest, and twenty steps more': (steps) =>
    2 * Math.max(...steps, 8_000) + (20 * sum(steps.slice(-20))) / Math.min(20, steps.length),
};

function guessRow(name: string, guess: (steps: number[]) => number): string {
  let lateAtOnce = 0;
  let lateAfterStep = 0;
  const before: number[] = [];
  for (const { used, end } of approaches) {
    const begun = used.findIndex((figure, index) => {
      const steps = used
        .slice(Math.max(1, index - 99), index + 1)
        .map((to, at) => to - (used[Math.max(1, index - 99) + at - 1] ?? to));
      return figure >= end || (steps.length >= 3 && figure + guess(steps) + writing > end);
    });
    const figure = used[begun] ?? 0;
    if (figure + writing > end) lateAtOnce += 1;
    if ((used[begun + 1] ?? figure) + writing > end) lateAfterStep += 1;
    before.push(end - figure);
  }
  before.sort((a, b) => a - b);
  const share = (count: number) => `${Math.round((count / approaches.length) * 100)} %`;
  const at = (part: number) => before[Math.floor(part * (before.length - 1))] ?? 0;
  return `| ${[name, share(lateAtOnce), share(lateAfterStep), at(0.5), at(0.9)].join(' | ')} |`;
}

function sum(numbers: number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

function row({ name, client, courses }: Tally): string {
  const by = (part: number, pick: (course: Course) => number) => {
    const sorted = courses.map(pick).sort((a, b) => a - b);
    return Math.round(sorted[Math.floor(part * (sorted.length - 1))] ?? 0);
  };
  const late = courses.filter(({ roomAfterStep }) => roomAfterStep < writing);
  const percentAt = (part: number) => by(part, ({ percent }) => percent);
  return `| ${[
    client.name,
    name,
    courses.length,
    courses.filter(({ isEarly }) => isEarly).length,
    percentAt(0),
    percentAt(0.1),
    percentAt(0.5),
    percentAt(0.9),
    late.length,
    late.filter(({ room }) => room < writing).length,
    by(0.5, ({ roomAfterStep }) => roomAfterStep),
  ].join(' | ')} |`;
}

afterAll(() => {
  const folder = path.join(root, process.env.WATCHKEEPER_REPORTS ?? 'test-results');
  mkdirSync(folder, { recursive: true });
  const late = tallies.flatMap(({ courses }) => courses).filter(({ roomAfterStep }) => roomAfterStep < writing);
  const surprises = late.flatMap(({ surprise }) => surprise ?? []).sort((a, b) => a - b);
  const all = tallies.reduce((sum, { courses }) => sum + courses.length, 0);
  const text = [
    '# When a handoff begins, and whether it leaves room',
    '',
    `${all} courses of a context from a start up to its full window, made of the steps of 55 real sessions and of generated ones; each is`,
    'judged after every figure, by an agent that is at work, so that one more step comes before it is asked. Writing a handoff is reckoned',
    `with ${writing} tokens: the request, the document, and once more what was missing. Too late: less than that is left after the step.`,
    '',
    '| window | steps | courses | begun before 85 % | earliest at % | 10 % by | half by | 90 % by | too late | of these at once | room left (median) |',
    '|---|---|---|---|---|---|---|---|---|---|---|',
    ...tallies.map(row),
    '',
    `All ${late.length} that were too late met a step larger than the hundred before it, and than the ${stepMin} tokens that are always`,
    `reckoned with (median ${surprises[Math.floor(surprises.length / 2)] ?? 0}, largest ${surprises.at(-1) ?? 0}): no trigger can know of it but one that begins in an empty context.`,
    '',
    '## How the numbers were chosen',
    '',
    `Tried on the real sessions, with an end set every ${endsEvery} tokens (${approaches.length} approaches to an end):`,
    '',
    '| the next steps may take | too late when begun | too late a step later | begun before the end (median) | (90 %) |',
    '|---|---|---|---|---|',
    ...Object.entries(guesses).map(([name, guess]) => guessRow(name, guess)),
    '',
    'So an agent at rest is reckoned with one step, one at work with two: the step that no figure tells of yet, and the next. To',
    'reckon with twenty more would throw away an eighth of the context to save three in a hundred. What is not reckoned with is a turn that',
    'goes on for long before the agent can be asked: on a window of 200,000 it may meet the compaction first. A step counts for at most',
    '32,000 tokens, as none of 4,864 real ones was larger: what grows by more is a figure that jumped. In a context that is half empty no',
    'step calls for a handoff. One of each kind on the real client: [handoff-begun.md](handoff-begun.md).',
    '',
  ];
  writeFileSync(path.join(folder, 'handoff-trigger.md'), text.join('\n'));
});
