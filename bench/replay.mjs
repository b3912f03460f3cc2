// How fast `replay` reads, against bare JSON.parse of the same lines and against ccusage, which reads the same files.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cost } from './measure.mjs';
import { writeTranscript } from './transcript.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const rounds = 5;
const million = 1_000_000;
const cases = [
  { name: 'one file of 200 MB', files: 1, bytes: 200 * million },
  { name: 'eight files, 200 MB together', files: 8, bytes: 25 * million },
  { name: 'eight files, 1 GB together', files: 8, bytes: 125 * million },
];
const memoryBytes = 500 * million;
const others = { 'ccusage 18': '18.0.11', 'ccusage 20': '20.0.24' };

/** Into a folder that git ignores; once. */
function install(version) {
  const prefix = path.join(root, '.bench', `ccusage-${version}`);
  const program = path.join(prefix, 'node_modules', '.bin', 'ccusage');
  if (existsSync(program)) return program;
  mkdirSync(prefix, { recursive: true });
  const done = spawnSync('npm', ['install', '--prefix', prefix, '--no-fund', '--no-audit', `ccusage@${version}`], {
    stdio: ['ignore', 2, 2],
  });
  if (done.status !== 0) throw new Error(`ccusage ${version} could not be installed`);
  return program;
}

/** The cheapest of some runs, in turn: what another program does meanwhile can only make it dearer. */
async function cheapest(ways, env) {
  const best = new Map();
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, argv] of Object.entries(ways)) {
      const one = await cost(argv, env);
      const before = best.get(name);
      best.set(name, {
        cpuS: Math.min(one.cpuS, before?.cpuS ?? one.cpuS),
        wallS: Math.min(one.wallS, before?.wallS ?? one.wallS),
        peakMb: Math.max(one.peakMb, before?.peakMb ?? 0),
      });
    }
  }
  return best;
}

export async function replayLines() {
  const programs = Object.entries(others).map(([name, version]) => [name, install(version)]);
  const rows = [];
  for (const { name, files, bytes } of cases) {
    process.stderr.write(`bench: replay, ${name}\n`);
    const home = mkdtempSync(path.join(tmpdir(), 'wk-bench-'));
    try {
      const folder = path.join(home, '.claude', 'projects', 'made-up');
      mkdirSync(folder, { recursive: true });
      const paths = Array.from({ length: files }, (_, index) => path.join(folder, `${index}.jsonl`));
      for (const [index, file] of paths.entries()) writeTranscript(file, bytes, index + 1);
      const ways = {
        'JSON.parse alone': [process.execPath, path.join(root, 'bench/parse-lines.mjs'), ...paths],
        'watchkeeper replay': [process.execPath, path.join(root, 'bin/watchkeeper'), 'replay', ...paths],
        'watchkeeper replay --json': [
          process.execPath,
          path.join(root, 'bin/watchkeeper'),
          'replay',
          '--json',
          ...paths,
        ],
        ...Object.fromEntries(programs.map(([other, program]) => [other, [program, 'daily', '--offline', '--json']])),
      };
      const env = { HOME: home, PATH: path.dirname(process.execPath) };
      const best = await cheapest(ways, env);
      const bare = best.get('JSON.parse alone').cpuS;
      for (const [way, { cpuS, wallS, peakMb }] of best) {
        const mb = (files * bytes) / million;
        rows.push(
          `| ${name} | ${way} | ${(mb / cpuS).toFixed(0)} MB/s | ${(mb / wallS).toFixed(0)} MB/s | ${(bare / cpuS).toFixed(2)} | ${peakMb.toFixed(0)} MB |`,
        );
      }
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  }
  return [
    '## Replay',
    '',
    'Made-up transcripts in the mix of real ones (`bench/transcript.mjs`), from the page cache, the best of five runs in turn, programs whole with',
    'their start. CPU is of all threads; `JSON.parse alone` reads the files in big pieces and does nothing else.',
    '',
    '| what | by | per CPU second | per second | of JSON.parse, per CPU second | memory at most |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
    `One file of 500 MB takes ${await memory()} MB of memory at most.`,
  ];
}

async function memory() {
  const home = mkdtempSync(path.join(tmpdir(), 'wk-bench-'));
  try {
    const file = path.join(home, 'long.jsonl');
    writeTranscript(file, memoryBytes, 1);
    const { peakMb } = await cost([process.execPath, path.join(root, 'bin/watchkeeper'), 'replay', file], {
      HOME: home,
      PATH: path.dirname(process.execPath),
    });
    return peakMb.toFixed(0);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
