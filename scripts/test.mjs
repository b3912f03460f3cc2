// `npm test`: brings what the tests need, runs the checks and the tests, and ends with `N passed, N failed`.
//   --setup-only  bring everything, test nothing
//   --long        also the long tests and Node 24; keeps the reports under docs/reports/
//   --part K/N    of the long run, so much; the report comes with the last part of a commit
//   --node24      also the unit tests on Node 24
import path from 'node:path';
import { runCheck } from './test/checks.mjs';
import { stopAll, wasStopped } from './test/children.mjs';
import { bringBuild, bringClients, bringDependencies, bringNode24, bringTmux } from './test/needs.mjs';
import { addUp, atOnce, parsePart, plan, workTree } from './test/parts.mjs';
import { againMax, keepUnsteady, runMissedAgain } from './test/retry.mjs';
import { checkLeftProcesses, endRun, startRun } from './test/run-folder.mjs';
import { passesAlone, runPieces, runVitest } from './test/vitest.mjs';

const known = ['--setup-only', '--long', '--part K/N', '--node24'];
const words = process.argv.slice(2);
const partAt = words.indexOf('--part');
const part = partAt < 0 ? { part: 1, of: 1 } : parsePart(words[partAt + 1] ?? '');
const flags = words.filter((_, n) => partAt < 0 || (n !== partAt && n !== partAt + 1));
const checks = ['biome', 'types', 'imports', 'lock', 'mutants', 'knip'];
const interrupted = 130;
const slowSeconds = 10;

function total(results) {
  const sum = (key) => results.reduce((all, result) => all + result[key], 0);
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
}

const counts = ({ passed, failed, skipped }) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;

const unsteadyOf = (results) => results.flatMap(({ unsteady }) => unsteady ?? []);

/** What took longest, for those who share the tests out. */
function printSlowest(results) {
  const files = results.flatMap((result) => (result.files ?? []).filter(({ seconds }) => seconds >= slowSeconds));
  for (const { file, seconds } of files.sort((a, b) => b.seconds - a.seconds))
    process.stdout.write(`${String(seconds).padStart(5)} s  ${file}\n`);
}

function printSummary(results) {
  const width = Math.max(...results.map(({ name }) => name.length));
  process.stdout.write('\n');
  for (const result of results) {
    process.stdout.write(`${result.name.padEnd(width)}  ${counts(result)}  (${result.seconds} s)\n`);
  }
  for (const { name, failures } of results) {
    for (const failure of failures) process.stdout.write(`failed: ${name}: ${failure}\n`);
  }
  for (const { file, name } of unsteadyOf(results)) process.stdout.write(`unsteady: ${file}: ${name}\n`);
  process.stdout.write(`${counts(total(results))}\n`);
}

/** All but the clients: they are fetched while what needs none of them is tested. */
async function bringFirst() {
  for (const bring of [bringDependencies, bringTmux, bringBuild]) {
    const problem = wasStopped() ? 'stopped' : await bring();
    if (problem !== null) return problem;
  }
  return null;
}

const failedToBring = (problem) => {
  const none = { name: 'clients', passed: 0, skipped: 0, seconds: 0 };
  return { ...none, failed: 1, failures: [problem], brokeOff: true };
};

async function testAll(folder, long) {
  const results = [];
  const add = async (work) => {
    if (!wasStopped()) results.push(await work());
  };
  const budget = { left: againMax };
  const again = (result) => runMissedAgain(result, budget, (missed) => passesAlone(missed, { folder }));
  const wanted = (project) => ({ project, files: long?.files(project) ?? [], folder, reports: long !== null });
  const isWanted = (project) => long === null || long.files(project).length > 0;
  const test = (project) => add(async () => again(await runVitest(wanted(project))));
  const bringing = bringClients();
  if (long === null || long.has('checks')) results.push(...(await Promise.all(checks.map(runCheck))));
  if (long === null || long.has('unit')) await test('unit');
  const problem = await bringing;
  if (problem !== null && !wasStopped()) return [...results, failedToBring(problem)];
  if (isWanted('system')) await test('system');
  // What asserts times comes first on the processor, and leaves much of it.
  const clients = wasStopped() ? [] : ['timed', 'clients'].filter(isWanted);
  const isBoth = clients.length === 2;
  // On a terminal each would draw over the other.
  const beside = isBoth && process.stdout.isTTY;
  const ran = await Promise.all(
    clients.map((project) => runVitest({ ...wanted(project), beside, low: isBoth && project === 'clients' })),
  );
  // Once more, alone, means alone.
  for (const result of ran) await add(() => again(result));
  const longs = wasStopped() ? [] : ['long-timed', 'long'].filter((project) => long?.pieces(project).length > 0);
  const isBothLong = longs.length === 2;
  const ranLong = await Promise.all(
    longs.map((project) => {
      const how = { folder, reports: true, low: isBothLong && project === 'long' };
      return runPieces(project, long.pieces(project), atOnce[project], how);
    }),
  );
  for (const result of ranLong) await add(() => again(result));
  if (long?.has('unit on Node 24') || flags.includes('--node24')) {
    await add(async () => {
      const node = await bringNode24(path.join(folder, 'node24'));
      return runVitest({ project: 'unit', label: 'unit on Node 24', folder, node });
    });
  }
  await add(() => checkLeftProcesses(folder));
  return results;
}

async function main() {
  const unknown = flags.find((flag) => !known.includes(flag));
  if (unknown !== undefined || part === null || (partAt >= 0 && !flags.includes('--long'))) {
    const what = unknown === undefined ? '--part is K/N of a long run' : `unknown option ${unknown}`;
    process.stderr.write(`test: ${what}; there are ${known.join(', ')}\n`);
    return 2;
  }
  const started = workTree();
  // To share a long run out, every test file is read, and those of scenarios ask for the client.
  const isAllFirst = flags.includes('--setup-only') || flags.includes('--long');
  const problem = (await bringFirst()) ?? (isAllFirst ? await bringClients() : null);
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
    const long = flags.includes('--long') ? plan(part, started) : null;
    if (long !== null) process.stdout.write(`test: part ${part.part}/${part.of}, about ${long.seconds} s\n`);
    const results = await testAll(folder, long);
    if (wasStopped()) return 1;
    keepUnsteady(unsteadyOf(results));
    printSlowest(results);
    if (long !== null) process.stdout.write(`\n${addUp(part, { ...long, started }, results)}\n`);
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
