import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig, loadForStart } from './load.ts';
import { formatProblem } from './problem.ts';
import { type ConfigChange, watchConfig } from './watch.ts';

let root = '';
let file = '';
let projectFile = '';

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'wk-watch-'));
  file = path.join(root, '.config/watchkeeper/config.yaml');
  projectFile = path.join(root, 'project/watchkeeper.yaml');
  mkdirSync(path.dirname(file), { recursive: true });
  mkdirSync(path.dirname(projectFile));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function start(named: string | null = null) {
  const places = { file: named, home: root, projectDir: path.dirname(projectFile) };
  const loaded = loadConfig(places);
  if (!loaded.ok) throw new Error(loaded.message);
  const watch = watchConfig(places, loaded.value);
  return { ...watch, settle: () => [watch.check(), watch.check()] as [ConfigChange, ConfigChange] };
}

function swap(place: string, make: () => void): void {
  rmSync(place);
  make();
}

const changed = (config: object): unknown => ({ config: expect.objectContaining(config) });

describe('the configuration while the daemon runs', () => {
  it('is unchanged as long as the files are', () => {
    writeFileSync(file, 'mode: watch\n');
    const watch = start();
    expect([...watch.settle(), ...watch.settle()]).toEqual(Array(4).fill('unchanged'));
    expect(watch.current().config.mode).toBe('watch');
  });

  it('follows a change once it has held for two checks', () => {
    writeFileSync(file, 'mode: watch\n');
    const watch = start();
    watch.settle();
    writeFileSync(file, 'mode: watch\ntickSeconds: 7\n');
    expect(watch.check()).toBe('unchanged');
    expect(watch.check()).toEqual(changed({ tickSeconds: 7 }));
    expect(watch.check()).toBe('unchanged');
    expect(watch.current().origins.tickSeconds).toBe(`${file}:2`);
  });

  it('does not take a file for empty that a busy disk has not written yet, however quick the ticks are', () => {
    writeFileSync(file, 'mode: watch\n');
    const places = { file: null, home: root, projectDir: path.dirname(projectFile) };
    const loaded = loadConfig(places);
    if (!loaded.ok) throw new Error(loaded.message);
    let nowMs = 0;
    const watch = watchConfig(places, loaded.value, () => nowMs, 1_000);
    const tick = () => {
      nowMs += 200;
      return watch.check();
    };
    for (let turn = 0; turn < 10; turn += 1) tick();
    truncateSync(file);
    for (let turn = 0; turn < 5; turn += 1) expect(tick()).toBe('unchanged');
    writeFileSync(file, 'mode: watch\ntickSeconds: 7\n');
    for (let turn = 0; turn < 5; turn += 1) expect(tick()).toBe('unchanged');
    expect(tick()).toEqual(changed({ mode: 'watch', tickSeconds: 7 }));
  });

  it('notices a change made between loading and the first check', () => {
    const watch = start();
    writeFileSync(file, 'mode: watch\n');
    expect(watch.settle()).toEqual(['unchanged', changed({ mode: 'watch' })]);
  });

  it('notices a change that keeps the size', () => {
    writeFileSync(file, 'tickSeconds: 1\n');
    utimesSync(file, 1, 1);
    const watch = start();
    watch.settle();
    writeFileSync(file, 'tickSeconds: 3\n');
    expect(watch.settle()[1]).toEqual(changed({ tickSeconds: 3 }));
  });

  it('notices a file replaced by one of the same size and time', () => {
    writeFileSync(file, 'tickSeconds: 1\n');
    utimesSync(file, 1, 1);
    const watch = start();
    watch.settle();
    writeFileSync(`${file}.new`, 'tickSeconds: 3\n');
    utimesSync(`${file}.new`, 1, 1);
    renameSync(`${file}.new`, file);
    expect(watch.settle()[1]).toEqual(changed({ tickSeconds: 3 }));
  });

  it('never takes the moment in which an editor has emptied or moved the file for a wish for defaults', () => {
    writeFileSync(file, 'mode: watch\n');
    const watch = start();
    watch.settle();
    truncateSync(file);
    expect(watch.check()).toBe('unchanged');
    renameSync(file, `${file}~`);
    expect(watch.check()).toBe('unchanged');
    writeFileSync(file, 'mode: watch\n');
    expect(watch.settle()).toEqual(['unchanged', 'unchanged']);
    expect(watch.current().config.mode).toBe('watch');
  });

  it('keeps the last good one when a file turns bad, says so once for each change, and recovers', () => {
    writeFileSync(file, 'mode: watch\n');
    const watch = start();
    watch.settle();
    writeFileSync(file, 'mode: no\n');
    expect(watch.settle()).toEqual(['unchanged', { problems: [expect.objectContaining({ key: 'mode', line: 1 })] }]);
    expect(watch.settle()).toEqual(['unchanged', 'unchanged']);
    expect(watch.current().config.mode).toBe('watch');
    writeFileSync(file, '\nmode: no!\n');
    expect(watch.settle()[1]).toEqual({ problems: [expect.objectContaining({ line: 2 })] });
    writeFileSync(file, 'mode: watch\n');
    expect(watch.settle()[1]).toEqual(changed({ mode: 'watch' }));
    expect(watch.settle()).toEqual(['unchanged', 'unchanged']);
  });

  it('is quiet about a change that changes no value', () => {
    writeFileSync(file, 'mode: watch\n');
    const watch = start();
    watch.settle();
    writeFileSync(file, '# why\nmode: watch\n');
    expect(watch.settle()).toEqual(['unchanged', 'unchanged']);
    expect(watch.current().origins.mode).toBe(`${file}:2`);
  });

  it('follows a file that appears', () => {
    const watch = start();
    watch.settle();
    writeFileSync(file, 'mode: watch\n');
    expect(watch.settle()[1]).toEqual(changed({ mode: 'watch' }));
    writeFileSync(projectFile, 'handoff: {atPercent: 90}\n');
    watch.settle();
    expect(watch.current().project?.config.handoff.atPercent).toBe(90);
  });

  it.each<[string, (place: string) => void]>([
    ['is gone', (place) => rmSync(place)],
    ['is empty', (place) => truncateSync(place)],
    ['holds blanks only', (place) => writeFileSync(place, '\n \n')],
    ['holds a comment only', (place) => writeFileSync(place, '# mode: watch\n')],
    ['is an empty document', (place) => writeFileSync(place, '--- {}\n')],
    ['is a directory', (place) => swap(place, () => mkdirSync(place))],
    ['is a link that leads nowhere', (place) => swap(place, () => symlinkSync('nowhere', place))],
    ['is in a folder that is gone', (place) => renameSync(path.dirname(place), `${path.dirname(place)}-away`)],
  ])('keeps what a file said when it %s, says so once, and takes it up when it is back', (_what, lose) => {
    writeFileSync(file, 'mode: watch\n');
    writeFileSync(projectFile, 'mode: watch\n');
    const watch = start();
    watch.settle();
    const observed = [{ match: '*', authority: 'observe' }];
    for (const place of [file, projectFile]) {
      lose(place);
      expect(watch.settle()[1]).toEqual({ problems: [expect.objectContaining({ file: place })] });
      expect([...watch.settle(), ...watch.settle()]).toEqual(Array(4).fill('unchanged'));
    }
    expect(watch.current().config.mode).toBe('watch');
    expect(watch.current().project?.config.projectAgents).toEqual(observed);
    rmSync(path.dirname(file), { recursive: true, force: true });
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, 'mode: act\n');
    expect(watch.settle()[1]).toEqual(changed({ mode: 'act' }));
    expect(watch.current().project?.config.projectAgents).toEqual(observed);
  });

  it("takes the machine's file up whatever a project's says, and keeps to the last good one of the project", () => {
    writeFileSync(projectFile, 'handoff: {atPercent: 90}\n');
    const watch = start();
    watch.settle();
    writeFileSync(projectFile, 'handoff: {atPercent: 10}\n');
    writeFileSync(file, 'mode: watch\n');
    expect(watch.settle()[1]).toEqual({
      config: expect.objectContaining({ mode: 'watch' }),
      problems: [expect.objectContaining({ file: projectFile, key: 'handoff.atPercent' })],
    });
    expect(watch.current().project?.config.handoff.atPercent).toBe(90);
    // What was right is looser than what the machine says now.
    writeFileSync(file, 'handoff: {atPercent: 95}\n');
    watch.settle();
    expect(watch.current().project?.config.handoff.atPercent).toBe(95);
  });

  it.each([
    ['a value that is none', 'mode: wach\n'],
    ['no YAML', 'mode: [watch\n'],
    ['a key that no project may set', 'mode: watch\nnotify: []\n'],
    ['a directory in its place', null],
  ])(
    "a project's file that is bad at a start does not hold up the machine's, and its agents are only watched: %s",
    (_what, text) => {
      writeFileSync(file, 'tickSeconds: 7\n');
      if (text === null) mkdirSync(projectFile);
      else writeFileSync(projectFile, text);
      const places = { file: null, home: root, projectDir: path.dirname(projectFile) };
      const loaded = loadForStart(places);
      if (!loaded.ok) throw new Error(loaded.message);
      const watch = watchConfig(places, loaded.value);
      expect(watch.leftOut().map(formatProblem)).toEqual([expect.stringContaining(projectFile)]);
      const observed = [{ match: '*', authority: 'observe' }];
      const settle = () => [watch.check(), watch.check()];
      for (let turn = 0; turn < 2; turn += 1) {
        expect(settle()).toEqual(['unchanged', 'unchanged']);
        expect(watch.current().config).toMatchObject({ tickSeconds: 7, mode: 'act' });
        expect(watch.current().project?.config.projectAgents).toEqual(observed);
      }
      rmSync(projectFile, { recursive: true });
      writeFileSync(projectFile, 'handoff: {atPercent: 90}\n');
      settle();
      expect(watch.current().project?.config).toMatchObject({ projectAgents: null, handoff: { atPercent: 90 } });
      expect(watch.leftOut()).toEqual([]);
    },
  );

  it("a machine's file that is bad at a start stops it", () => {
    writeFileSync(file, 'mode: wach\n');
    writeFileSync(projectFile, 'mode: watch\n');
    expect(loadForStart({ file: null, home: root, projectDir: path.dirname(projectFile) })).toMatchObject({
      ok: false,
    });
  });

  it('keeps what it has when a named file goes', () => {
    const named = path.join(root, 'named.yaml');
    writeFileSync(named, 'mode: watch\n');
    const watch = start(named);
    watch.settle();
    rmSync(named);
    expect(watch.settle()[1]).toEqual({
      problems: [expect.objectContaining({ text: expect.stringContaining('no such file') })],
    });
    expect(watch.current().config.mode).toBe('watch');
  });
});
