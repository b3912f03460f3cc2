// `npm test`: brings what the tests need, runs the checks and the tests, and ends with `N passed, N failed`.
//   --setup-only  bring everything, test nothing
//   --long        also the long tests and Node 24; keeps the reports under docs/reports/
//   --node24      also the unit tests on Node 24
import path from 'node:path';
import { runCheck } from './test/checks.mjs';
import { stopAll, wasStopped } from './test/children.mjs';
import { bringBuild, bringClients, bringDependencies, bringNode24, bringTmux } from './test/needs.mjs';
import { writeLongReport } from './test/report.mjs';
import { checkLeftProcesses, endRun, startRun } from './test/run-folder.mjs';
import { runVitest } from './test/vitest.mjs';

const known = ['--setup-only', '--long', '--node24'];
const flags = process.argv.slice(2);
const checks = ['biome', 'types', 'imports', 'lock', 'knip'];
const interrupted = 130;

function total(results) {
  const sum = (key) => results.reduce((all, result) => all + result[key], 0);
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
}

const counts = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;

function printSummary(results) {
  const width = Math.max(...results.map(({ name }) => name.length));
  process.stdout.write('\n');
  for (const result of results) {
    process.stdout.write(`${result.name.padEnd(width)}  ${counts(result)}  (${result.seconds} s)\n`);
  }
  for (const { name, failures } of results) {
    for (const failure of failures) process.stdout.write(`failed: ${name}: ${failure}\n`);
  }
  process.stdout.write(`${counts(total(results))}\n`);
}

async function bringAll() {
  for (const bring of [bringDependencies, bringTmux, bringBuild, bringClients]) {
    const problem = wasStopped() ? 'stopped' : await bring();
    if (problem !== null) return problem;
  }
  return null;
}

async function testAll(folder) {
  const long = flags.includes('--long');
  const results = [];
  const add = async (work) => {
    if (!wasStopped()) results.push(await work());
  };
  for (const check of checks) await add(() => runCheck(check));
  for (const project of ['unit', 'system', 'timed', 'clients', ...(long ? ['long'] : [])]) {
    await add(() => runVitest({ project, folder, long, node: process.execPath }));
  }
  if (long || flags.includes('--node24')) {
    await add(async () => {
      const node = await bringNode24(path.join(folder, 'node24'));
      return runVitest({ project: 'unit', label: 'unit on Node 24', folder, long, node });
    });
  }
  await add(() => checkLeftProcesses(folder));
  return results;
}

async function main() {
  const unknown = flags.find((flag) => !known.includes(flag));
  if (unknown !== undefined) {
    process.stderr.write(`test: unknown option ${unknown}; there are ${known.join(', ')}\n`);
    return 2;
  }
  const problem = await bringAll();
  if (problem !== null) {
    process.stderr.write(`test: ${problem}\n`);
    if (!wasStopped() && !flags.includes('--setup-only')) process.stdout.write('0 passed, 1 failed\n');
    return 1;
  }
  if (flags.includes('--setup-only')) {
    process.stdout.write('test: everything the tests need is here\n');
    return 0;
  }
  const folder = startRun();
  try {
    const results = await testAll(folder);
    if (wasStopped()) return 1;
    if (flags.includes('--long')) writeLongReport(results);
    printSummary(results);
    return total(results).failed === 0 ? 0 : 1;
  } finally {
    endRun(folder);
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stopAll);
const code = await main();
if (wasStopped()) process.stderr.write('test: stopped\n');
process.exitCode = wasStopped() ? interrupted : code;
