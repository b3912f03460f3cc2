// How well the thresholds of the loop family carry over: chosen on some labelled runs, used on the others.
export const foldCount = 5;
export const foldSeed = 20_261_115;

const grid = [3, 4, 5].flatMap((sameSteps) =>
  [3, 4, 6].flatMap((againSteps) =>
    [5, 6, 7].flatMap((failuresOfTen) =>
      [7, 8, 9].map((nothingOfTen) => ({ sameSteps, againSteps, failuresOfTen, nothingOfTen, reverts: 2 })),
    ),
  ),
);

/**
 * Thresholds are chosen by F0.5 on four fifths of the runs and used on the fifth; each run is judged once. `scoring`: the program's
 * own, built or from its source. Answers the score on the runs held out, and what was chosen for each fifth.
 */
export function crossValidate(scoring, runs, limits) {
  const { emptyScore, shuffled } = scoring;
  const order = shuffled(
    runs.toSorted((a, b) => a.file.localeCompare(b.file)),
    foldSeed,
  );
  const folds = Array.from({ length: foldCount }, (_, fold) =>
    order.filter((_, place) => place % foldCount === fold).map(withSteps),
  );
  const tables = grid.map((loop) => folds.map((fold) => scoreOf(scoring, fold, { ...limits, loop })));
  const score = emptyScore();
  const chosen = folds.map((_, held) => {
    const values = tables.map((table) => trainingValue(scoring, table, held));
    const best = values.indexOf(Math.max(...values));
    const heldOut = tables[best][held];
    for (const kind of Object.keys(score)) score[kind].push(...heldOut[kind]);
    return grid[best];
  });
  return { score, chosen };
}

/** What the loop family looks at, and nothing else: it is looked at once for every choice. */
function withSteps(run) {
  const kinds = ['tool-call', 'tool-result', 'reply', 'prompt', 'interrupted', 'compacted'];
  return { ...run, events: run.events.filter(({ fact, side }) => !side && kinds.includes(fact.kind)) };
}

function scoreOf({ addScore, emptyScore, judgeRun }, runs, limits) {
  const score = emptyScore();
  for (const run of runs) addScore(score, run, judgeRun(run, limits).alarms.loop, 'loop');
  return score;
}

/** Alarms nobody judged count as wrong here: what is chosen should be careful. */
function trainingValue({ fHalf }, table, held) {
  const others = table.filter((_, fold) => fold !== held);
  const sum = (of) => others.reduce((total, score) => total + of(score), 0);
  const wrong = sum(({ wrong, unjudged }) => wrong.length + unjudged.length);
  return (
    fHalf(
      sum(({ hits }) => hits.length),
      wrong,
      sum(({ misses }) => misses.length),
    ) ?? 0
  );
}
