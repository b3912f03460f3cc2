// The long run in parts that add up: each does its share of the files, and the report is written when all of one commit are there.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './children.mjs';
import { writeLongReport, writeSeconds } from './report.mjs';

/** How many of a project's files run at a time; see vitest.config.ts. */
export const atOnce = { system: 4, clients: 3, timed: 1, long: 3, 'long-timed': 1 };
const unknownSeconds = { system: 10, clients: 40, timed: 60, long: 300, 'long-timed': 300 };
const whole = { checks: 20, unit: 45, 'unit on Node 24': 60 };
/** A long file is cut into pieces of about so much. */
const pieceSeconds = 600;
const results = path.join(root, 'test-results');
const folderOf = (commit) => path.join(results, 'long', commit);
const secondsFile = 'scripts/test/seconds.json';
/** What the run itself writes is no change of what was tested. */
const written = [':!docs/reports', `:!${secondsFile}`];

export function parsePart(text) {
  const [part, of] = /^(\d{1,2})\/(\d{1,2})$/.exec(text)?.slice(1).map(Number) ?? [];
  return part >= 1 && part <= of ? { part, of } : null;
}

function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

/** `isClean`: nothing but the commit is tested. */
export function workTree() {
  const status = git('status', '--porcelain', '--', '.', ...written);
  return { commit: git('rev-parse', 'HEAD') ?? 'unknown', isClean: status === '' };
}

/** As measured in the last whole run, and of the commit, so that all its parts share the files in the same way. */
function measured() {
  try {
    return JSON.parse(git('show', `HEAD:${secondsFile}`) ?? '{}');
  } catch {
    return {};
  }
}

function list(...args) {
  const { stdout } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'list', '--json', ...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(stdout).map(({ file, ...each }) => ({ ...each, file: path.relative(root, file) }));
}

/**
 * A long file is done in pieces, each some of its tests: one file alone may take longer than a part should. Its tests are
 * taken to be of the same length. `only`: the tests of the piece; null: the whole file.
 */
export function piecesOf(file, seconds, names) {
  const count = Math.max(1, Math.min(names.length, Math.ceil(seconds / pieceSeconds)));
  if (count === 1) return [{ id: `long: ${file}`, file, only: null, seconds }];
  return Array.from({ length: count }, (_, n) => {
    const only = names.filter((_name, at) => at % count === n);
    return { id: `long: ${file} ${n + 1}/${count}`, file, only, seconds: (seconds * only.length) / names.length };
  });
}

/** Everything there is to do, by ids that are the same on every machine. */
function items() {
  const took = measured();
  const secondsOf = (project, file) => took[file] ?? unknownSeconds[project];
  const long = list('--project', 'long', '--project', 'long-timed');
  const files = list('--filesOnly').filter(({ projectName }) => projectName in atOnce);
  const isLong = ({ projectName }) => projectName.startsWith('long');
  return [
    ...Object.entries(whole).map(([id, seconds]) => ({ id, project: null, seconds })),
    ...files
      .filter((each) => !isLong(each))
      .map(({ file, projectName: project }) => {
        return { id: `${project}: ${file}`, project, file, seconds: secondsOf(project, file) / atOnce[project] };
      }),
    ...files.filter(isLong).flatMap(({ file, projectName: project }) => {
      const names = long.filter((test) => test.file === file).map(({ name }) => name.replaceAll(' > ', ' '));
      return piecesOf(file, secondsOf(project, file), names).map((piece) => {
        return { ...piece, project, alone: piece.seconds, seconds: piece.seconds / atOnce[project] };
      });
    }),
  ];
}

/** The longest first, each to the part that has least to do. */
export function share(all, of) {
  const parts = Array.from({ length: of }, () => ({ seconds: 0, ids: [] }));
  const ordered = [...all].sort((a, b) => b.seconds - a.seconds || (a.id < b.id ? -1 : 1));
  for (const { id, seconds } of ordered) {
    const least = parts.reduce((best, part) => (part.seconds < best.seconds ? part : best));
    least.seconds += seconds;
    least.ids.push(id);
  }
  return parts;
}

const runsBeside = { clients: 'timed', long: 'long-timed' };

/** A project takes no less than the longest of its pieces, whatever runs beside it; of two side by side the longer counts. */
export function secondsOfPart(mine) {
  const took = {};
  for (const name of new Set(mine.map(({ project }) => project))) {
    const own = mine.filter(({ project }) => project === name);
    const shared = own.reduce((sum, { seconds }) => sum + seconds, 0);
    const place = runsBeside[name] ?? name;
    took[place] = Math.max(took[place] ?? 0, shared, ...own.map(({ alone }) => alone ?? 0));
  }
  return Math.round(Object.values(took).reduce((sum, seconds) => sum + seconds, 0));
}

/** What this part has to do. What an earlier commit left behind counts for nothing any more. */
export function plan({ part, of }, { commit }) {
  if (!existsSync(folderOf(commit))) rmSync(results, { recursive: true, force: true });
  mkdirSync(folderOf(commit), { recursive: true });
  const all = items();
  const { ids } = share(all, of)[part - 1];
  const mine = all.filter(({ id }) => ids.includes(id));
  return {
    ids,
    all: all.map(({ id }) => id).sort(),
    seconds: secondsOfPart(mine),
    has: (id) => ids.includes(id),
    files: (project) => mine.filter((item) => item.project === project).map(({ file }) => file),
    pieces: (project) => mine.filter((item) => item.project === project).sort((a, b) => b.seconds - a.seconds),
  };
}

/** Why the parts that are there make no report yet; null: they do. */
export function whyNotWhole(parts, { commit, of }, all) {
  const missing = Array.from({ length: of }, (_, n) => n + 1).filter((n) => !parts.some(({ part }) => part === n));
  if (missing.length > 0) return `still to run: ${missing.map((n) => `--part ${n}/${of}`).join(', ')}`;
  const done = parts.flatMap(({ ids }) => ids).sort();
  return parts.every((each) => each.commit === commit) && JSON.stringify(done) === JSON.stringify(all)
    ? null
    : 'the parts do not make up the whole: run them anew';
}

/** Keeps the part beside the others of its commit. Says what became of it. */
export function addUp({ part, of }, { ids, all, started }, ran) {
  const now = workTree();
  const name = `part ${part}/${of}`;
  if (!started.isClean || !now.isClean) return `${name} does not add up: the work tree is not what is committed`;
  if (ran.some(({ brokeOff }) => brokeOff)) return `${name} does not add up: it broke off`;
  if (started.commit !== now.commit) return `${name} does not add up: another commit was checked out meanwhile`;
  const own = folderOf(now.commit);
  const result = { part, of, commit: now.commit, at: new Date().toISOString(), ids, results: ran };
  writeFileSync(path.join(own, `${part}-of-${of}.json`), JSON.stringify(result, null, 1));
  const parts = readdirSync(own)
    .filter((file) => file.endsWith(`-of-${of}.json`))
    .map((file) => JSON.parse(readFileSync(path.join(own, file), 'utf8')))
    .sort((a, b) => a.part - b.part);
  const reason = whyNotWhole(parts, { commit: now.commit, of }, all);
  if (reason !== null) return `${name} of ${now.commit.slice(0, 7)} is kept; ${reason}`;
  writeLongReport(parts);
  writeSeconds(parts, path.join(root, secondsFile));
  rmSync(own, { recursive: true });
  return `all of ${now.commit.slice(0, 7)} ran: docs/reports/last-long-run.md is written`;
}
