// One vitest project, or some of its files, or one test alone; its figures by our own reporter.
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { program, root, run } from './children.mjs';

const limitsMs = {
  unit: 5 * 60_000,
  system: 12 * 60_000,
  timed: 18 * 60_000,
  clients: 18 * 60_000,
  long: 4 * 3_600_000,
};

const reporter = path.join(root, 'scripts/test/reporter.mjs');

/** Nothing of the caller's own Watchkeeper, tmux or database may reach a test. */
function environment(folder, reports) {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(WATCHKEEPER_|TMUX|PG|DATABASE_URL$|npm_(?!config_))/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    TMPDIR: path.join(folder, 'tmp'),
    TEST_RESULT: path.join(folder, 'vitest.json'),
    ...(reports ? { WATCHKEEPER_REPORTS: 'docs/reports' } : {}),
  };
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

const say = (file, name, reason) => [file, name, reason].filter(Boolean).join(': ');

/** vitest's own limit is one too, but only if the scenario looked at its world afterwards, which says so by the other. */
export function isMissedDeadline(errors) {
  const isMissed = ({ name }) => name === 'DeadlineMissed';
  const isTimeUp = ({ message }) => /^Test timed out in \d+ms/.test(message);
  return errors.some(isMissed) && errors.every((error) => isMissed(error) || isTimeUp(error));
}

async function startVitest({
  project,
  files = [],
  only = null,
  folder,
  cwd = root,
  reports = false,
  show = true,
  node = process.execPath,
}) {
  const startMs = performance.now();
  const env = environment(folder, reports);
  rmSync(env.TEST_RESULT, { force: true });
  const args = ['run', '--project', project, '--reporter=default', `--reporter=${reporter}`, ...files];
  if (only !== null) args.push('-t', `^(?:${only.map(escaped).join('|')})$`);
  if (!process.stdout.isTTY) args.push('--no-color');
  const how = { env, cwd, show, limitMs: limitsMs[project] };
  const { code } = await run(node, [program('vitest', 'vitest.mjs'), ...args], how);
  return { code, report: readReport(env.TEST_RESULT), seconds: Math.round((performance.now() - startMs) / 1000) };
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');

/** `files`, `only`: those files, those tests by their names alone; `reports`: the tests write docs/reports. `missed`: the failures that were a deadline and no more. */
export async function runVitest(wanted) {
  const { project, label } = wanted;
  process.stdout.write(`\ntest: ${label ?? project}\n`);
  const { code, report, seconds } = await startVitest(wanted);
  const files = report?.files ?? [];
  const failed = files.flatMap(({ file, tests }) =>
    tests.filter(({ state }) => state === 'failed').map(({ name, errors }) => ({ file, name, errors })),
  );
  const failures = [
    ...(report?.errors ?? []),
    ...files.flatMap(({ file, errors }) => errors.map((message) => say(file, '', message))),
    ...failed.map(({ file, name, errors }) => say(file, name, errors[0]?.message)),
  ];
  // A set-up that failed, an error outside of any test, no test at all, or no report.
  if (failures.length === 0 && (code !== 0 || report === null)) failures.push(`vitest ended with ${code}, see above`);
  const count = (state) =>
    files.reduce((sum, { tests }) => sum + tests.filter((test) => test.state === state).length, 0);
  return {
    name: label ?? project,
    passed: count('passed'),
    failed: failures.length,
    skipped: count('skipped'),
    failures,
    missed: failed
      .filter(({ errors }) => isMissedDeadline(errors))
      .map(({ file, name, errors }) => ({ project, file, name, failure: say(file, name, errors[0].message) })),
    unsteady: [],
    files: files.map(({ file, seconds: took }) => ({ file, seconds: took })),
    seconds,
  };
}

/** One test by its name, in a vitest of its own. */
export async function passesAlone({ project, file, name }, where) {
  process.stdout.write(`\ntest: once more, alone: ${file}: ${name}\n`);
  const { code, report } = await startVitest({ ...where, project, files: [file], only: [name] });
  const tests = report?.files.flatMap((each) => each.tests).filter(({ state }) => state !== 'skipped') ?? [];
  return code === 0 && tests.length > 0 && tests.every(({ state }) => state === 'passed');
}
