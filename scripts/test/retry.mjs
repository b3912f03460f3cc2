// A scenario on the real client that missed a deadline runs once more, alone. If it passes then it counts as passed and is
// named as unsteady: a bug for the next day, not a lost one. What broke a promise never runs again.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './children.mjs';

/** In a whole run: more than that is no flicker. */
export const againMax = 5;
const realClients = ['clients', 'timed', 'long', 'long-timed'];

/** `budget.left`: how many may still run again in this run. `passes`: runs one alone. */
export async function runMissedAgain(result, budget, passes) {
  const missed = (result.missed ?? []).filter(({ project }) => realClients.includes(project));
  let { passed, failed, failures } = result;
  const unsteady = [];
  for (const test of missed) {
    if (budget.left === 0) break;
    budget.left -= 1;
    if (!(await passes(test))) continue;
    passed += 1;
    failed -= 1;
    const at = failures.indexOf(test.failure);
    failures = failures.filter((_, n) => n !== at);
    unsteady.push(test);
  }
  return { ...result, passed, failed, failures, unsteady };
}

const head = [
  '# Unsteady scenarios',
  '',
  'Each missed a deadline and passed when it ran once more, alone. Whoever finds out why takes its line out.',
  '',
  '| date | commit | scenario | what it missed |',
  '|---|---|---|---|',
];

/** Written only when there is something to say, so that a steady run leaves the tree as it is. */
export function keepUnsteady(unsteady, file = path.join(root, 'docs/reports/unsteady.md')) {
  if (unsteady.length === 0) return;
  const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout?.trim();
  const cell = (text) => text.replaceAll('|', '\\|').replaceAll(/[\r\n]+/g, ' ');
  const rows = unsteady.map(({ file: where, name, failure }) => {
    const reason = failure.slice(where.length + name.length + 4);
    return `| ${[new Date().toISOString().slice(0, 10), commit || 'unknown', `${where}: ${name}`, reason].map(cell).join(' | ')} |`;
  });
  const before = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : head;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `${[...before, ...rows].join('\n')}\n`);
}
