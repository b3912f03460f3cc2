import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { defaultConfig } from '../src/config/schema.ts';
import { evaluate, figures } from '../src/eval/eval.ts';
import { readLabelledRuns } from '../src/eval/labelled-runs.ts';
import * as score from '../src/eval/score.ts';
import { fHalf, shuffled } from '../src/model/statistics.ts';
import { judgeLimits } from '../src/replay/replay.ts';
import { crossValidate } from './tune.mjs';

const shared = path.resolve(import.meta.dirname, '../../shared/data');

it.skipIf(!existsSync(shared))(
  'on thresholds chosen on other runs the loop family is right as often as docs/reports/eval-thresholds.md says (needs ../shared/data, skipped without)',
  async () => {
    const [read, evaluated] = [await readLabelledRuns(shared, () => {}), await evaluate(shared, () => {})];
    if (!read.ok || !evaluated.ok) throw new Error('the labelled runs cannot be read');
    const runs = read.value.runs.filter(({ unstructured }) => !unstructured);
    const held = figures(crossValidate({ ...score, fHalf, shuffled }, runs, judgeLimits(defaultConfig())).score);
    expect(held.precision).toBeGreaterThanOrEqual(0.9);
    expect(held.recall).toBeGreaterThanOrEqual(0.65);
    const best = Math.max(...Object.values(evaluated.value.baselines).map(({ f05 }) => f05 ?? 0));
    expect(held.f05).toBeGreaterThanOrEqual(best + 0.1);
  },
  120_000,
);
