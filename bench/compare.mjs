// `npm run bench:compare -- COMMIT|DIRECTORY [PART…] [--rounds 5]`: what this checkout costs against another one. Each is measured by
// its own bench, in turn, so that what else the machine does meanwhile is the same for both; the medians are compared.
// Ends with 1 where a row is worse by more than a tenth.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const allParts = ['watching', 'hooks', 'replay', 'judging'];
const worseMax = 0.1;
/** What a figure says, and the least that is no noise of the measuring itself: the kernel counts CPU in steps of 10 ms. */
const units = {
  '%': { less: true, least: 0.1 },
  MB: { less: true, least: 2 },
  KB: { less: true, least: 1 },
  ms: { less: true, least: 0.3 },
  µs: { less: true, least: 2 },
  'MB/s': { less: false, least: 1 },
};
/** Measured beside ours, to know the machine by. */
const notOurs =
  /^(?:plain way|a hook that only reads its input|the same in Node|.*JSON\.parse alone|.*ccusage \d+)(?: |$)/;

/** Every figure with a unit in the tables of a report, by what it is of. */
export function figuresIn(markdown) {
  const figures = new Map();
  let titles = [];
  for (const line of markdown.split('\n')) {
    if (!line.startsWith('|')) titles = [];
    else if (!/^\|[-|]+\|$/.test(line)) {
      const cells = line.split('|').slice(1, -1);
      if (titles.length === 0) titles = cells.map((cell) => cell.trim());
      else
        add(
          figures,
          titles,
          cells.map((cell) => cell.trim()),
        );
    }
  }
  return figures;
}

function add(figures, titles, cells) {
  // The hooks' times stand there without their unit.
  const whole = cells.map((cell, n) => (titles[n] === 'median' ? `${cell} ms` : cell));
  const read = whole.map((cell) => /^([\d.]+) (%|MB|KB|ms|µs|MB\/s)$/.exec(cell));
  const first = read.findIndex((match) => match !== null);
  const name = [...cells.slice(0, Math.max(1, first))].join(', ');
  for (const [n, match] of read.entries()) {
    if (match === null) continue;
    const [column, what] = [titles[n] ?? '', /^\d+$/.test(name) ? `${name} ${titles[0]}` : name];
    // The slowest of a hundred is chance.
    if (/within/.test(column) || notOurs.test(column) || notOurs.test(what.replace(/^.*, /, ''))) continue;
    figures.set(column === '' ? what : `${what}: ${column}`, { value: Number(match[1]), unit: match[2] });
  }
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** One line for each row that both have: the medians, how much more it is by now, and whether that is too much. */
export function compared(before, now) {
  const rows = [];
  for (const [name, { unit }] of now[0] ?? []) {
    const of = (rounds) => rounds.flatMap((round) => round.get(name)?.value ?? []);
    if (of(before).length === 0) continue;
    const [was, is] = [median(of(before)), median(of(now))];
    const { less, least } = units[unit];
    const worse = less ? is - was : was - is;
    rows.push({ name, unit, was, is, isWorse: worse > least && worse > was * worseMax });
  }
  return rows;
}

function run(root, program, args) {
  const done = spawnSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 2],
    maxBuffer: 2 ** 26,
  });
  if (done.status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${done.status} in ${root}`);
  return done.stdout;
}

/** A commit gets a checkout of its own, into a folder that git ignores; once. */
function checkout(given) {
  if (existsSync(path.join(given, 'bench', 'run.mjs'))) return path.resolve(given);
  const commit = run(here, 'git', ['rev-parse', '--short', '--verify', `${given}^{commit}`]).trim();
  const root = path.join(here, '.bench', commit);
  if (!existsSync(root)) run(here, 'git', ['worktree', 'add', '--detach', root, commit]);
  if (!existsSync(path.join(root, 'dist'))) run(root, 'npm', ['ci', '--no-fund', '--no-audit']);
  return root;
}

function measured(root, parts) {
  return figuresIn(run(root, process.execPath, ['--expose-gc', 'bench/run.mjs', ...parts]));
}

function main(args) {
  const at = args.indexOf('--rounds');
  const rounds = at < 0 ? 5 : Number(args[at + 1]);
  const [other, ...parts] = at < 0 ? args : args.toSpliced(at, 2);
  const wrong = parts.find((part) => !allParts.includes(part));
  if (other === undefined || !(rounds >= 1) || wrong !== undefined) {
    process.stderr.write(`usage: compare.mjs COMMIT|DIRECTORY [${allParts.join('] [')}] [--rounds 5]\n`);
    return 2;
  }
  const root = checkout(other);
  run(here, process.execPath, ['scripts/build.mjs']);
  const [before, now] = [[], []];
  for (let round = 1; round <= rounds; round += 1) {
    process.stderr.write(`compare: round ${round} of ${rounds}\n`);
    // Who is first changes, too.
    const both = [() => before.push(measured(root, parts)), () => now.push(measured(here, parts))];
    for (const one of round % 2 === 1 ? both : both.reverse()) one();
  }
  const rows = compared(before, now);
  const lines = rows.map(({ name, unit, was, is, isWorse }) => {
    const ratio = was === 0 ? '' : `${(is / was).toFixed(2)} ×`;
    return `| ${name} | ${was} ${unit} | ${is} ${unit} | ${ratio}${isWorse ? ' worse' : ''} |`;
  });
  const head = [`| median of ${rounds} | ${other} | now | |`, '|---|---|---|---|'];
  process.stdout.write(`${[...head, ...lines].join('\n')}\n`);
  return rows.some(({ isWorse }) => isWorse) ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.exitCode = main(process.argv.slice(2));
