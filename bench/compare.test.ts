import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { compared, figuresIn } from './compare.mjs';

const report = readFileSync(path.join(import.meta.dirname, '../docs/reports/bench.md'), 'utf8');

it('the figures of a report are those of our own rows, not of what is measured beside them', () => {
  const names = [...figuresIn(report).keys()];
  expect(names).toEqual(expect.arrayContaining(['200 agents: daemon', '200 agents: daemon memory', 'ours: median']));
  expect(names).toContain('one file of 200 MB, watchkeeper replay: per CPU second');
  expect(names).toContain('share of one core for 1000 agents');
  expect(names.filter((name) => /plain|ccusage|JSON.parse alone|Node|within/.test(name))).toEqual([]);
});

it.each([
  ['| 200 | 2.00 % |', '| 200 | 2.15 % |', false],
  ['| 200 | 2.00 % |', '| 200 | 2.25 % |', true],
  // Less than the kernel counts.
  ['| 200 | 0.10 % |', '| 200 | 0.15 % |', false],
  ['| 200 | 120 MB/s |', '| 200 | 107 MB/s |', true],
  ['| 200 | 120 MB/s |', '| 200 | 170 MB/s |', false],
])('%s and then %s is worse: %s', (was, is, isWorse) => {
  const table = (row: string) => figuresIn(`| agents | daemon |\n|---|---|\n${row}`);
  expect(compared([table(was)], [table(is)])).toMatchObject([{ name: '200 agents: daemon', isWorse }]);
});

it('the median of the rounds counts', () => {
  const table = (value: number) => figuresIn(`| agents | daemon |\n|---|---|\n| 200 | ${value} % |`);
  expect(compared([table(2)], [table(9), table(2), table(2.1)])).toMatchObject([{ was: 2, is: 2.1, isWorse: false }]);
});
