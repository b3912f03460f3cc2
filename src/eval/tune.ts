import type { LoopLimits } from '../detect/loops/check.ts';
import type { JudgeLimits } from '../detect/loops/judge.ts';
import { fHalf, shuffled } from '../model/statistics.ts';
import type { LabelledRun } from './labelled-runs.ts';
import { addScore, emptyScore, judgeRun, type Score } from './score.ts';

export const foldCount = 5;
export const foldSeed = 20_261_115;

const grid: LoopLimits[] = [3, 4, 5].flatMap((sameSteps) =>
  [3, 4, 6].flatMap((againSteps) =>
    [5, 6, 7].flatMap((failuresOfTen) =>
      [7, 8, 9].map((nothingOfTen) => ({ sameSteps, againSteps, failuresOfTen, nothingOfTen, reverts: 2 })),
    ),
  ),
);

export interface CrossValidation {
  /** What was found with thresholds chosen on the other folds. */
  score: Score;
  chosen: LoopLimits[];
}

/** Thresholds are chosen by F0.5 on four fifths of the runs and used on the fifth; each run is judged once. */
export function crossValidate(runs: LabelledRun[], limits: JudgeLimits): CrossValidation {
  const order = shuffled(
    runs.toSorted((a, b) => a.file.localeCompare(b.file)),
    foldSeed,
  );
  const folds = Array.from({ length: foldCount }, (_, fold) =>
    order.filter((_, place) => place % foldCount === fold).map(withSteps),
  );
  const tables = grid.map((loop) => folds.map((fold) => scoreOf(fold, { ...limits, loop })));
  const score = emptyScore();
  const chosen = folds.map((_, held) => {
    const values = tables.map((table) => trainingValue(table, held));
    const best = values.indexOf(Math.max(...values));
    const heldOut = tables[best]?.[held] ?? emptyScore();
    score.hits.push(...heldOut.hits);
    score.misses.push(...heldOut.misses);
    score.wrong.push(...heldOut.wrong);
    score.unjudged.push(...heldOut.unjudged);
    return grid[best] as LoopLimits;
  });
  return { score, chosen };
}

/** What the loop family looks at, and nothing else: it is looked at once for every choice. */
function withSteps(run: LabelledRun): LabelledRun {
  const kinds = ['tool-call', 'tool-result', 'reply', 'prompt', 'interrupted', 'compacted'];
  return { ...run, events: run.events.filter(({ fact, side }) => !side && kinds.includes(fact.kind)) };
}

function scoreOf(runs: LabelledRun[], limits: JudgeLimits): Score {
  const score = emptyScore();
  for (const run of runs) addScore(score, run, judgeRun(run, limits).alarms.loop, 'loop');
  return score;
}

/** Alarms nobody judged count as wrong here: what is chosen should be careful. */
function trainingValue(table: Score[], held: number): number {
  const others = table.filter((_, fold) => fold !== held);
  const sum = (of: (score: Score) => number) => others.reduce((total, score) => total + of(score), 0);
  const wrong = sum(({ wrong, unjudged }) => wrong.length + unjudged.length);
  return (
    fHalf(
      sum(({ hits }) => hits.length),
      wrong,
      sum(({ misses }) => misses.length),
    ) ?? 0
  );
}
