// docs/reports/last-long-run.md: when all the tests ran last, on what, and their figures; and how long each file took.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { root } from './children.mjs';

const sum = (results, key) => results.reduce((all, result) => all + result[key], 0);
const figures = (results) => ['passed', 'failed', 'skipped', 'seconds'].map((key) => sum(results, key)).join(' | ');

/** `parts`: of one commit, all that there are. */
export function longReport(parts) {
  const results = parts.flatMap((part) => part.results);
  const names = [...new Set(results.map(({ name }) => name))];
  const failures = results.flatMap(({ name, failures: each }) => each.map((failure) => `- ${name}: ${failure}`));
  const unsteady = results.flatMap((result) => (result.unsteady ?? []).map(({ failure }) => `- ${failure}`));
  const list = (title, lines) => (lines.length === 0 ? [] : ['', `${title}:`, '', ...lines]);
  return [
    '# The last long run',
    '',
    'Written by `npm run test:long`: everything there is, on one commit.',
    '',
    `- commit: ${parts[0].commit}, nothing uncommitted`,
    `- Node ${process.versions.node}, ${os.availableParallelism()} cores, ${process.platform} ${process.arch}`,
    `- ${sum(results, 'passed')} passed, ${sum(results, 'failed')} failed, ${sum(results, 'skipped')} skipped`,
    '',
    '| run | ended | passed | failed | skipped | s |',
    '|---|---|---|---|---|---|',
    ...parts.map(({ part, of, at, results: own }) => `| ${part}/${of} | ${at.slice(0, 16)}Z | ${figures(own)} |`),
    '',
    '| kind | passed | failed | skipped | s |',
    '|---|---|---|---|---|',
    ...names.map((name) => `| ${name} | ${figures(results.filter((result) => result.name === name))} |`),
    ...list('Failed', failures),
    ...list('Unsteady, passed when they ran once more', unsteady),
    '',
  ].join('\n');
}

export function writeLongReport(parts) {
  const folder = path.join(root, 'docs/reports');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'last-long-run.md'), longReport(parts));
}

/** What the next runs are shared out by, and begin with. Files that took about as long as before keep their figure. */
export function writeSeconds(parts, file) {
  const before = JSON.parse(readFileSync(file, 'utf8'));
  const took = {};
  for (const { name, files = [] } of parts.flatMap((part) => part.results)) {
    // A file may have run in pieces.
    for (const { file: of, seconds } of name.startsWith('unit') ? [] : files) took[of] = (took[of] ?? 0) + seconds;
  }
  const isLike = (old, now) => old !== undefined && Math.abs(old - now) <= Math.max(3, old / 4);
  const entries = Object.entries(took)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, seconds]) => [name, isLike(before[name], seconds) ? before[name] : seconds]);
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
}
