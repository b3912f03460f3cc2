// `npm run mutants`: takes out, one after the other, the code that keeps a promise, and sees whether a test of that promise fails.
//   WORDS     only mutants whose guarantee, file or description has one of them; 5 alone is guarantee 5
//   --check   tests nothing: only whether every text is where the list says, and every test is named by its promise
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

/** Why the list is no longer true of this one; null: it is. */
function whyUnfit(cwd, { guarantee, file, find, tests }) {
  const line = guarantees.find((text) => text.startsWith(`| ${guarantee} |`)) ?? '';
  const unnamed = tests.filter((test) => !line.includes(`\`${test}\``));
  if (unnamed.length > 0) return `GUARANTEES.md does not name ${unnamed.join(', ')}`;
  const gone = tests.filter((test) => !existsSync(path.join(cwd, test)));
  if (gone.length > 0) return `there is no ${gone.join(', ')}`;
  const place = path.join(cwd, file);
  const times = existsSync(place) ? readFileSync(place, 'utf8').split(find).length - 1 : 0;
  return times === 1 ? null : `its text is there ${times} times, not once`;
}

/** What is wrong with this mutant; null: a test fails, as it should. */
function whyAlive(cwd, mutant) {
  const unfit = whyUnfit(cwd, mutant);
  if (unfit !== null) return unfit;
  const { file, find, put, tests } = mutant;
  const place = path.join(cwd, file);
  const before = readFileSync(place, 'utf8');
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

const isCheck = process.argv.includes('--check');
const words = process.argv.slice(2).filter((word) => word !== '--check');
const isWanted = ({ guarantee, file, what }) =>
  words.length === 0 ||
  words.some((word) => String(guarantee) === word || (!/^\d+$/.test(word) && `${file} ${what}`.includes(word)));
const wanted = mutants.filter(isWanted);
const nameOf = ({ guarantee, what, file }) => `${guarantee}: ${what} (${file})`;

/** Each that lives, with why. */
function tryAll(why) {
  return wanted.flatMap((mutant) => {
    if (!isCheck) process.stdout.write(`${nameOf(mutant)}\n`);
    const reason = why(mutant);
    return reason === null ? [] : [`${nameOf(mutant)}: ${reason}`];
  });
}

function problemsInCopy() {
  const copy = mkdtempSync(path.join(os.tmpdir(), 'wk-mutants-'));
  try {
    copyTree(copy);
    const broken = failing(copy, [...new Set(wanted.flatMap((mutant) => mutant.tests))]);
    if (broken === null || broken.length > 0)
      return [`without any mutant: ${broken?.join('; ') ?? 'the tests could not be run'}`];
    return tryAll((mutant) => whyAlive(copy, mutant));
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

const problems = isCheck ? tryAll((mutant) => whyUnfit(root, mutant)) : problemsInCopy();
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.stdout.write(`${wanted.length - problems.length} ${isCheck ? 'found' : 'killed'}, ${problems.length} not\n`);
process.exitCode = problems.length === 0 && wanted.length > 0 ? 0 : 1;
