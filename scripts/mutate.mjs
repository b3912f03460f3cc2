// `npm run mutants`: takes out, one after the other, the code that keeps a promise, and sees whether a test of that promise fails.
//   WORDS     only mutants whose guarantee, file or description has one of them; 5 alone is guarantee 5
// In a copy of the work tree that is not built: tests that drive the program see nothing of a mutant. A text that is not found any more is a failure too: the list has to stay true.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { program, root } from './test/children.mjs';
import { mutants } from './test/mutants.mjs';

const testMs = 5 * 60_000;
const reporter = 'scripts/test/reporter.mjs';
const guarantees = readFileSync(path.join(root, 'GUARANTEES.md'), 'utf8').split('\n');

function copyTree(to) {
  const listed = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8' });
  for (const file of listed.stdout.split('\0').filter((name) => name !== '' && existsSync(path.join(root, name))))
    cpSync(path.join(root, file), path.join(to, file), { recursive: true });
  for (const name of ['node_modules', '.clients']) symlinkSync(path.join(root, name), path.join(to, name));
  mkdirSync(path.join(to, 'tmp'));
}

function start(cwd, args) {
  const env = { ...process.env, TMPDIR: path.join(cwd, 'tmp'), TEST_RESULT: path.join(cwd, 'tmp/result.json') };
  spawnSync(process.execPath, args, { cwd, env, stdio: 'ignore', timeout: testMs });
}

/** The tests that fail; null: they could not be run. */
function failing(cwd, tests) {
  const result = path.join(cwd, 'tmp/result.json');
  const names = [];
  // The projects do not run together: they differ in how many workers they have.
  for (const place of ['src/', 'test/']) {
    const some = tests.filter((test) => test.startsWith(place));
    if (some.length === 0) continue;
    rmSync(result, { force: true });
    start(cwd, [program('vitest', 'vitest.mjs'), 'run', `--reporter=${path.join(cwd, reporter)}`, ...some]);
    if (!existsSync(result)) return null;
    const { files, errors } = JSON.parse(readFileSync(result, 'utf8'));
    const all = files.flatMap((file) => file.tests);
    if (all.length === 0 || errors.length > 0 || files.some((file) => file.errors.length > 0)) return null;
    names.push(...all.filter(({ state }) => state === 'failed').map(({ name }) => name));
  }
  return names;
}

/** What is wrong with this mutant; null: a test fails, as it should. */
function whyAlive(cwd, { guarantee, file, find, put, tests }) {
  const line = guarantees.find((text) => text.startsWith(`| ${guarantee} |`)) ?? '';
  const unnamed = tests.filter((test) => !line.includes(`\`${test}\``));
  if (unnamed.length > 0) return `GUARANTEES.md does not name ${unnamed.join(', ')}`;
  const place = path.join(cwd, file);
  const before = existsSync(place) ? readFileSync(place, 'utf8') : '';
  if (before.split(find).length !== 2) return `its text is there ${before.split(find).length - 1} times, not once`;
  writeFileSync(
    place,
    before.replace(find, () => put),
  );
  try {
    const failed = failing(cwd, tests);
    if (failed === null) return 'the tests could not be run';
    if (failed.length > 0)
      process.stdout.write(`  ${failed[0]}${failed.length > 1 ? ` and ${failed.length - 1} more` : ''}\n`);
    return failed.length > 0 ? null : `ALIVE: no test fails in ${tests.join(', ')}`;
  } finally {
    writeFileSync(place, before);
  }
}

const words = process.argv.slice(2);
const isWanted = ({ guarantee, file, what }) =>
  words.length === 0 ||
  words.some((word) => String(guarantee) === word || (!/^\d+$/.test(word) && `${file} ${what}`.includes(word)));
const wanted = mutants.filter(isWanted);
const copy = mkdtempSync(path.join(os.tmpdir(), 'wk-mutants-'));
const problems = [];
try {
  copyTree(copy);
  const tests = [...new Set(wanted.flatMap((mutant) => mutant.tests))];
  const broken = failing(copy, tests);
  if (broken === null || broken.length > 0)
    problems.push(`without any mutant: ${broken?.join('; ') ?? 'the tests could not be run'}`);
  for (const mutant of problems.length > 0 ? [] : wanted) {
    process.stdout.write(`${mutant.guarantee}: ${mutant.what} (${mutant.file})\n`);
    const why = whyAlive(copy, mutant);
    if (why !== null) problems.push(`${mutant.guarantee}: ${mutant.what} (${mutant.file}): ${why}`);
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.stdout.write(`${wanted.length - problems.length} killed, ${problems.length} not\n`);
process.exitCode = problems.length === 0 && wanted.length > 0 ? 0 : 1;
