// docs/reports/last-long-run.md: when the long tests ran last, on what, and their figures.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { root } from './children.mjs';

function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}

export function writeLongReport(results) {
  const folder = path.join(root, 'docs/reports');
  // The reports themselves have just been written.
  const status = git('status', '--porcelain', '--untracked-files=no', '--', '.', ':!docs/reports');
  const changed = status === '' ? '' : ', with uncommitted changes';
  const rows = results.map(
    ({ name, passed, failed, skipped, seconds }) => `| ${name} | ${passed} | ${failed} | ${skipped} | ${seconds} |`,
  );
  const failures = results.flatMap(({ name, failures }) => failures.map((failure) => `- ${name}: ${failure}`));
  const lines = [
    '# The last long run',
    '',
    'Written by `npm run test:long`.',
    '',
    `- date: ${new Date().toISOString().slice(0, 16)}Z`,
    `- commit: ${git('rev-parse', '--short', 'HEAD') || 'unknown'}${changed}`,
    `- Node ${process.versions.node}, ${os.availableParallelism()} cores, ${process.platform} ${process.arch}`,
    '',
    '| part | passed | failed | skipped | s |',
    '|---|---|---|---|---|',
    ...rows,
    ...(failures.length === 0 ? [] : ['', 'Failed:', '', ...failures]),
    '',
  ];
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'last-long-run.md'), lines.join('\n'));
}
