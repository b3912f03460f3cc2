// One vitest project, its figures read from vitest's own report.
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

/** Nothing of the caller's own Watchkeeper, tmux or database may reach a test. */
function environment(folder, long) {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(WATCHKEEPER_|TMUX|PG|DATABASE_URL$|npm_(?!config_))/.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    TMPDIR: path.join(folder, 'tmp'),
    ...(long ? { WATCHKEEPER_REPORTS: 'docs/reports' } : {}),
  };
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

function failuresIn(report) {
  return report.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = path.relative(root, name);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    // A file that could not even be read has no test that failed.
    if (failed.length === 0 && status === 'failed') return [`${file}: ${firstLine(message)}`];
    return failed.map((test) => `${file}: ${test.fullName}: ${firstLine(test.failureMessages?.[0])}`);
  });
}

function firstLine(text) {
  return (text ?? '').trim().split('\n')[0].slice(0, 200);
}

export async function runVitest({ project, label = project, folder, long, node }) {
  const startMs = performance.now();
  const file = path.join(folder, 'vitest.json');
  rmSync(file, { force: true });
  process.stdout.write(`\ntest: ${label}\n`);
  const args = ['run', '--project', project, '--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  if (!process.stdout.isTTY) args.push('--no-color');
  const { code } = await run(node, [program('vitest', 'vitest.mjs'), ...args], {
    env: environment(folder, long),
    show: true,
    limitMs: limitsMs[project],
  });
  const report = readReport(file);
  const failures = report === null ? [] : failuresIn(report);
  // A set-up that failed, an error outside of any test, no test at all, or no report.
  if (failures.length === 0 && (code !== 0 || report === null)) failures.push(`vitest ended with ${code}, see above`);
  return {
    name: label,
    passed: report?.numPassedTests ?? 0,
    failed: failures.length,
    skipped: (report?.numPendingTests ?? 0) + (report?.numTodoTests ?? 0),
    failures,
    seconds: Math.round((performance.now() - startMs) / 1000),
  };
}
