import type { LoopLimits } from '../src/detect/loops/check.ts';
import type { JudgeLimits } from '../src/detect/loops/judge.ts';
import type { LabelledRun } from '../src/eval/labelled-runs.ts';
import type { RunsScore } from '../src/eval/score.ts';

type Scoring = Pick<typeof import('../src/eval/score.ts'), 'addScore' | 'emptyScore' | 'judgeRun'> &
  Pick<typeof import('../src/model/statistics.ts'), 'fHalf' | 'shuffled'>;

export function crossValidate(
  scoring: Scoring,
  runs: LabelledRun[],
  limits: JudgeLimits,
): { score: RunsScore; chosen: LoopLimits[] };
