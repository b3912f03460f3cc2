// One vitest project, or some of its files, or one test alone; its figures by our own reporter.
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { program, root, run, wasStopped } from './children.mjs';

const limitsMs = {
  unit: 5 * 60_000,
  system: 12 * 60_000,
  timed: 18 * 60_000,
  clients: 18 * 60_000,
  long: 2 * 3_600_000,
  'long-timed': 2 * 3_600_000,
};

const reporter = path.join(root, 'scripts/test/reporter.mjs');

let runs = 0;

/** Nothing of the caller's own Watchkeeper, tmux or database may reach a test. Several may run side by side. */
function environment(folder, reports) {
  runs += 1;
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(WATCHKEEPER_|TMUX|PG|DATABASE_URL$|npm_(?!config_))/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    TMPDIR: path.join(folder, 'tmp'),
    TEST_RESULT: path.join(folder, `vitest-${runs}.json`),
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
  beside = false,
  show = !beside,
  low = false,
  node = process.execPath,
}) {
  const startMs = performance.now();
  const env = environment(folder, reports);
  rmSync(env.TEST_RESULT, { force: true });
  const args = ['run', '--project', project, '--reporter=default', `--reporter=${reporter}`, ...files];
  if (only !== null) args.push('-t', `^(?:${only.map(escaped).join('|')})$`);
  if (!process.stdout.isTTY) args.push('--no-color');
  const how = { env, cwd, show, limitMs: limitsMs[project] };
  const [file, ...words] = [...(low ? ['nice'] : []), node, program('vitest', 'vitest.mjs'), ...args];
  const { code, output } = await run(file, words, how);
  const seconds = Math.round((performance.now() - startMs) / 1000);
  return { code, output, report: readReport(env.TEST_RESULT), seconds };
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');

/**
 * `files`, `only`: those files, those tests by their names alone; `reports`: the tests write docs/reports; `beside`: others run
 * at the same time, so what it says is shown at its end; `low`: it gets the time of the processor that they leave. `missed`: the
 * failures that were a deadline and no more.
 */
export async function runVitest(wanted) {
  const { project, label, beside = false } = wanted;
  const head = `\ntest: ${label ?? project}\n`;
  if (!beside) process.stdout.write(head);
  const { code, output, report, seconds } = await startVitest(wanted);
  if (beside) process.stdout.write(head + output);
  const isMine = ({ name }) => !wanted.only || wanted.only.includes(name);
  const files = (report?.files ?? []).map((each) => ({ ...each, tests: each.tests.filter(isMine) }));
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

/** Each in a vitest of its own, so many at a time; told as one, and what each said is shown when it ends. */
export async function runPieces(project, pieces, atOnce, where) {
  const startMs = performance.now();
  const waiting = [...pieces];
  const results = [];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined && !wasStopped(); next = waiting.shift()) {
      const { file, only } = next;
      results.push(await runVitest({ ...where, project, files: [file], only, beside: true }));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  const sum = (key) => results.reduce((all, result) => all + result[key], 0);
  const all = (key) => results.flatMap((result) => result[key]);
  return {
    name: project,
    passed: sum('passed'),
    failed: sum('failed'),
    skipped: sum('skipped'),
    failures: all('failures'),
    missed: all('missed'),
    unsteady: [],
    files: all('files'),
    seconds: Math.round((performance.now() - startMs) / 1000),
  };
}

/** One test by its name, in a vitest of its own. */
export async function passesAlone({ project, file, name }, where) {
  process.stdout.write(`\ntest: once more, alone: ${file}: ${name}\n`);
  const { code, report } = await startVitest({ ...where, project, files: [file], only: [name] });
  const tests = report?.files.flatMap((each) => each.tests).filter(({ state }) => state !== 'skipped') ?? [];
  return code === 0 && tests.length > 0 && tests.every(({ state }) => state === 'passed');
}
