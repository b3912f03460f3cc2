// `node bench/thresholds.mjs DIR [--write]`: the loop family on labelled runs, with thresholds chosen on other runs; --write keeps
// the table in docs/reports/eval-thresholds.md.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { crossValidate, foldCount, foldSeed } from './tune.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const from = (file) => import(pathToFileURL(path.join(root, 'dist', file)).href);
const scoring = { ...(await from('eval/score.js')), ...(await from('model/statistics.js')) };
const { baselineFigures, figures } = await from('eval/eval.js');
const { baselines } = await from('eval/baselines.js');
const { figuresHead, figuresRow } = await from('eval/markdown.js');
const { readLabelledRuns } = await from('eval/labelled-runs.js');
const { judgeLimits } = await from('replay/replay.js');
const { defaultConfig } = await from('config/schema.js');
const { loopLimits } = await from('detect/loops/check.js');

const words = (limits) =>
  Object.entries(limits)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

async function main(folder) {
  const read = await readLabelledRuns(folder, () => {});
  if (!read.ok) throw new Error(read.message);
  const runs = read.value.runs.filter(({ unstructured }) => !unstructured);
  const limits = judgeLimits(defaultConfig());
  const held = crossValidate(scoring, runs, limits);
  const defaults = scoring.emptyScore();
  for (const run of runs) scoring.addScore(defaults, run, scoring.judgeRun(run, limits).alarms.loop, 'loop');
  return [
    '# Thresholds chosen on other runs',
    '',
    'Written by `node bench/thresholds.mjs DIR --write` on the runs of [eval.md](eval.md).',
    '',
    `${foldCount} folds of whole runs, seed ${foldSeed}: the loop family's thresholds are chosen by F0.5 on four fifths and used on the`,
    'fifth, so each run is judged by thresholds it had no part in. The rules themselves were made with knowledge of these runs;',
    'only other runs can say how well they carry over. The silences have no thresholds of their own: they are those of the',
    'configuration, a person given three times `waiting.notifyMinutes`; that factor was chosen by looking at these runs and is not',
    'cross-validated (docs/adr/0012-loops.md). The defaults of the loop family were set by hand before the first score:',
    `${words(loopLimits)}.`,
    '',
    ...figuresHead('loop family'),
    figuresRow('held out', figures(held.score)),
    figuresRow('defaults', figures(defaults)),
    ...Object.entries(baselines).map(([name, rule]) => figuresRow(name, baselineFigures(runs, rule))),
    '',
    `Chosen: ${[...new Set(held.chosen.map(words))].join('; ')}.`,
    '',
  ].join('\n');
}

const folder = process.argv.slice(2).find((word) => !word.startsWith('--'));
if (folder === undefined) {
  process.stderr.write('thresholds: which folder of labelled runs?\n');
  process.exit(2);
}
const table = await main(folder);
process.stdout.write(table);
if (process.argv.includes('--write')) writeFileSync(path.join(root, 'docs/reports/eval-thresholds.md'), table);
