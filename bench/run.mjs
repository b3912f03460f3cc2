// `npm run bench [-- PART… --write]`: what Watchkeeper costs, against the plain way of doing the same. Both in one run, as ratios,
// because machines are noisy. --write keeps the tables in docs/reports/bench.md.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { measureHooks } from './hooks.mjs';
import { measure, seconds, tickSeconds } from './panes.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const paneCounts = [1, 50, 200];
const percent = (share) => `${(share * 100).toFixed(2)} %`;

async function paneRows() {
  const rows = [];
  for (const count of paneCounts) {
    process.stderr.write(`bench: ${count} agents\n`);
    const { plain, seen, used, memory } = await measure(count);
    if (seen !== count) throw new Error(`${seen} of ${count} agents were seen`);
    const watching = used.daemon + used.server;
    const ratio = watching === 0 ? 'too little to measure' : `${(plain / watching).toFixed(1)} ×`;
    rows.push(
      `| ${count} | ${percent(plain)} | ${percent(used.daemon)} | ${percent(used.server)} | ${ratio} | ${percent(used.database)} | ${memory.daemon.toFixed(0)} MB | ${memory.database.toFixed(0)} MB |`,
    );
  }
  return rows;
}

async function hookRows() {
  process.stderr.write('bench: hooks\n');
  const times = await measureHooks();
  const names = { none: 'a hook that only reads its input', ours: 'ours', node: 'the same in Node' };
  return Object.entries(names).map(
    ([way, name]) =>
      `| ${name} | ${times[way].median.toFixed(1)} | ${times[way].most.toFixed(1)} | ${(times[way].median / times.ours.median).toFixed(1)} × |`,
  );
}

async function watchingLines() {
  return [
    '## Watching',
    '',
    `CPU of one core over ${seconds} s with idle agents, after 15 s to warm up, a tick of ${tickSeconds} s. The plain way starts one \`tmux capture-pane\` per pane and tick;`,
    'ours is the daemon and what it costs the tmux server. Memory is proportional set size.',
    '',
    '| agents | plain way | daemon | tmux server | cheaper by | PostgreSQL | daemon memory | PostgreSQL memory |',
    '|---|---|---|---|---|---|---|---|',
    ...(await paneRows()),
  ];
}

async function hookLines() {
  return [
    '## A hook',
    '',
    'Milliseconds of one call as the client makes it: through `sh -c`, with an event of 2.5 KB on standard input.',
    '',
    '| hook | median | 95 of 100 within | against ours |',
    '|---|---|---|---|',
    ...(await hookRows()),
  ];
}

// Each is loaded with what it measures only when it is asked for.
const parts = {
  watching: watchingLines,
  hooks: hookLines,
  replay: async () => (await import('./replay.mjs')).replayLines(),
  judging: async () => (await import('./judging.mjs')).judgingLines(),
};
const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const unknown = words.find((word) => !Object.hasOwn(parts, word));
if (unknown !== undefined) {
  process.stderr.write(`bench: ${unknown} is none of ${Object.keys(parts).join(', ')}\n`);
  process.exit(2);
}

/** The parts that were not measured stay as they are. */
const report = path.join(root, 'docs/reports/bench.md');
const before = readFileSync(report, 'utf8').split(/\n(?=## )/);
const sections = new Map(before.slice(1).map((text) => [text.split('\n')[0], text.trimEnd()]));
const date = new Date().toISOString().slice(0, 10);
for (const name of words.length > 0 ? words : Object.keys(parts)) {
  const [title, ...lines] = await parts[name]();
  const text = [title, ...lines, '', `Measured on ${date}, Node ${process.versions.node}.`].join('\n');
  process.stdout.write(`${text}\n\n`);
  sections.set(title, text);
}
const head = [
  '# What it costs',
  '',
  'Written by `npm run bench -- [watching] [hooks] [replay] [judging] --write`. The clock of the kernel ticks at 10 ms, so small figures of CPU are coarse.',
].join('\n');
if (process.argv.includes('--write')) writeFileSync(report, `${[head, ...sections.values()].join('\n\n')}\n`);
