// How right each source is by itself, and all of them together, as the run itself saw it.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeSetup, type Setup } from '../../src/conform/setup.ts';
import type { SourceScore } from '../../src/conform/truth.ts';

interface Row {
  setup: string;
  samples: number;
  right: number;
  unknown: number;
  dangerous: number;
  slowestMs: number;
  alone: Record<string, { said: number; right: number }>;
}

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../..');
const scratch = path.join(root, 'test-results', 'sources');

export function rowOf(setup: Setup, scores: SourceScore[]): Row {
  const sum = (pick: (score: SourceScore) => number) => scores.reduce((total, score) => total + pick(score), 0);
  const alone: Row['alone'] = {};
  for (const [source, counts] of scores.flatMap((score) => [...score.alone])) {
    const all = alone[source] ?? { said: 0, right: 0 };
    alone[source] = { said: all.said + counts.said, right: all.right + counts.right };
  }
  return {
    setup: describeSetup(setup),
    samples: sum(({ samples }) => samples),
    right: sum(({ right }) => right),
    unknown: sum(({ unknown }) => unknown),
    dangerous: sum(({ dangerous }) => dangerous.length),
    slowestMs: Math.max(...scores.flatMap(({ lags }) => lags.map(({ ms }) => ms))),
    alone,
  };
}

/** `npm run test:long` keeps the table with the documentation; other runs leave the tree as it is. */
export function writeRow(setup: Setup, row: Row): void {
  mkdirSync(scratch, { recursive: true });
  writeFileSync(path.join(scratch, `${setup.name}.json`), JSON.stringify(row));
  const folder = path.join(root, process.env.WATCHKEEPER_REPORTS ?? 'test-results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'sources.md'), report(allRows()));
}

/** Those of every combination, where there are any: they hold the two of the short run. */
function allRows(): Row[] {
  const names = readdirSync(scratch).sort();
  const every = names.filter((name) => /^s\d/.test(name));
  return (every.length > 0 ? every : names).map(
    (name) => JSON.parse(readFileSync(path.join(scratch, name), 'utf8')) as Row,
  );
}

const share = (part: number, whole: number) => (whole === 0 ? '-' : `${((part / whole) * 100).toFixed(1)} %`);
const sources = ['hook', 'registry', 'transcript', 'screen'];

function report(rows: Row[]): string {
  const sum = (pick: (row: Row) => number) => rows.reduce((total, row) => total + pick(row), 0);
  const samples = sum((row) => row.samples);
  const aloneOf = (row: Row, source: string) => row.alone[source] ?? { said: 0, right: 0 };
  return [
    '# How right the states are, by source',
    '',
    'Written by the state table on the real Claude Code 2.1.325 (`test/clients/state-matrix.test.ts`; all combinations:',
    '`test/long/state-matrix.test.ts`). Asked five times a second, `status` is right if its word was true at some moment of the',
    'last two seconds; the truth comes from the model server, the keys and the screen. "Dangerous" is a word that allows typing,',
    'or calls an agent dead, where the truth forbids it. A source alone is judged by the same words, with the others masked:',
    'of what it says, how much is right. The screen is only asked where the records do not say enough.',
    '',
    `Setups: ${rows.length}; samples: ${samples}; right: ${share(
      sum((row) => row.right),
      samples,
    )}; unknown: ${share(
      sum((row) => row.unknown),
      samples,
    )}; dangerous: ${sum((row) => row.dangerous)}; slowest state seen after ${Math.max(...rows.map((row) => row.slowestMs))} ms.`,
    '',
    `| setup | samples | fused | unknown | dangerous | slowest ms | ${sources.join(' | ')} |`,
    `|---|---|---|---|---|---|${sources.map(() => '---|').join('')}`,
    ...rows.map((row) => {
      const alone = sources.map((source) => share(aloneOf(row, source).right, aloneOf(row, source).said));
      return `| ${row.setup} | ${row.samples} | ${share(row.right, row.samples)} | ${share(row.unknown, row.samples)} | ${row.dangerous} | ${row.slowestMs} | ${alone.join(' | ')} |`;
    }),
    `| **all** | ${samples} | ${share(
      sum((row) => row.right),
      samples,
    )} | ${share(
      sum((row) => row.unknown),
      samples,
    )} | ${sum((row) => row.dangerous)} | | ${sources
      .map((source) =>
        share(
          sum((row) => aloneOf(row, source).right),
          sum((row) => aloneOf(row, source).said),
        ),
      )
      .join(' | ')} |`,
    '',
  ].join('\n');
}
