// The runner of the tests is itself tested: what runs again and what never does, on a small project of its own; and how the
// parts of a long run add up.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parsePart, piecesOf, secondsOfPart, share, whyNotWhole } from '../../scripts/test/parts.mjs';
import { longReport } from '../../scripts/test/report.mjs';
import { againMax, keepUnsteady, runMissedAgain } from '../../scripts/test/retry.mjs';
import { isMissedDeadline, passesAlone, runPieces, runVitest } from '../../scripts/test/vitest.mjs';

const root = path.resolve(import.meta.dirname, '../..');

function folder(): string {
  const made = mkdtempSync(path.join(os.tmpdir(), 'wk-runner-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A project with scenarios that fail in every way there is. `-t` patterns must not stumble over their names. */
function smallProject(): string {
  const cwd = folder();
  symlinkSync(path.join(root, 'node_modules'), path.join(cwd, 'node_modules'));
  writeFileSync(
    path.join(cwd, 'vitest.config.mjs'),
    `export default { test: { projects: [{ extends: true, test: { name: 'clients', include: ['*.test.ts'], testTimeout: 300 } }] } };`,
  );
  writeFileSync(
    path.join(cwd, 'a.test.ts'),
    `import { appendFileSync, readFileSync } from 'node:fs';
     import { describe, expect, test } from 'vitest';
     import { DeadlineMissed } from '${root}/src/conform/until.ts';
     const runs = (name) => {
       appendFileSync('runs', name + '\\n');
       return readFileSync('runs', 'utf8').split('\\n').filter((each) => each === name).length;
     };
     const miss = () => { throw new DeadlineMissed('not within 5 ms: it (really) | happened'); };
     const never = () => new Promise(() => {});
     test('passes', () => void runs('passes'));
     describe('in a group (of some)', () => {
       test('misses once [a.b]', () => { if (runs('once') === 1) miss(); });
       test('misses twice', () => { runs('twice'); miss(); });
     });
     test('breaks a promise', () => { runs('promise'); expect(2, 'typed').toBe(1); });
     test('misses and breaks', () => {
       runs('both');
       throw new AggregateError([new DeadlineMissed('not within 5 ms'), new Error('typed twice: wk-12ab')]);
     });
     test('its time is up', () => { runs('up'); return never(); });
     test('its time is up, and its world was looked at', ({ onTestFinished }) => {
       onTestFinished(() => { if (runs('looked') === 1) miss(); });
       if (readFileSync('runs', 'utf8').includes('looked')) return;
       return never();
     });`,
  );
  writeFileSync(
    path.join(cwd, 'b.test.ts'),
    `import { test } from 'vitest';
     test('leaves an error behind', () => {
       setTimeout(() => { throw new Error('nobody caught it'); }, 10);
       return new Promise((resolve) => setTimeout(resolve, 100));
     });`,
  );
  mkdirSync(path.join(cwd, 'tmp'));
  return cwd;
}

describe('a scenario that missed a deadline', () => {
  it('runs once more, alone; one that broke a promise, or might have, does not', { timeout: 60_000 }, async () => {
    const cwd = smallProject();
    const where = { folder: cwd, cwd, show: false };
    const first = await runVitest({ ...where, project: 'clients' });
    expect(first).toMatchObject({ passed: 2, failed: 7 });
    const result = await runMissedAgain(first, { left: againMax }, (missed: never) => passesAlone(missed, where));
    expect(result).toMatchObject({ passed: 4, failed: 5 });
    const names = result.unsteady.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['in a group (of some) misses once [a.b]', 'its time is up, and its world was looked at']);
    expect(result.failures.join('\n')).toMatch(
      /nobody caught it.*misses twice: not within.*typed.*misses and breaks.*time is up: Test timed/s,
    );
    const runs = readFileSync(path.join(cwd, 'runs'), 'utf8').trimEnd().split('\n').sort();
    expect(runs).toEqual(['both', 'looked', 'looked', 'once', 'once', 'passes', 'promise', 'twice', 'twice', 'up']);
    keepUnsteady(result.unsteady, path.join(cwd, 'unsteady.md'));
    keepUnsteady(result.unsteady, path.join(cwd, 'unsteady.md'));
    const kept = readFileSync(path.join(cwd, 'unsteady.md'), 'utf8').split('\n').slice(-5);
    expect(kept[0]).toMatch(
      /^\| \d{4}-\d\d-\d\d \| \w+ \| a\.test\.ts: in a group \(of some\) misses once \[a\.b\] \| not within 5 ms: it \(really\) \\\| happened \|$/,
    );
    expect(kept[2]).toBe(kept[0]);
  });

  const made = (count: number, project = 'clients') => {
    const missed = Array.from({ length: count }, (_, n) => ({
      project,
      file: 'f',
      name: `n${n}`,
      failure: `f: n${n}: late`,
    }));
    const failures = missed.map(({ failure }) => failure);
    return { passed: 0, failed: count, failures, missed };
  };
  const passes = async () => true;

  it('is one of five in a run at most: a sixth stands as it is', async () => {
    const budget = { left: againMax };
    expect(await runMissedAgain(made(2), budget, passes)).toMatchObject({ passed: 2, failed: 0, failures: [] });
    const later = await runMissedAgain(made(4), budget, passes);
    expect(later).toMatchObject({ passed: 3, failed: 1, failures: ['f: n3: late'] });
  });

  it.each(['unit', 'system'])('is one on the real client: none of %s', async (project) => {
    expect(await runMissedAgain(made(1, project), { left: againMax }, passes)).toMatchObject({
      failed: 1,
      unsteady: [],
    });
  });

  it.each([
    ['a deadline', [{ name: 'DeadlineMissed', message: 'not within' }], true],
    ['nothing', [], false],
    ['an assertion', [{ name: 'AssertionError', message: 'not within 5 ms' }], false],
    ['a deadline and another', [{ name: 'DeadlineMissed' }, { name: 'Error', message: 'typed twice' }], false],
    ['only the time of the test', [{ name: 'Error', message: 'Test timed out in 5ms.' }], false],
  ])('is known by its errors: %s', (_what, errors, missed) => expect(isMissedDeadline(errors)).toBe(missed));

  it('leaves the tree alone where nothing was unsteady', () => {
    const file = path.join(folder(), 'unsteady.md');
    keepUnsteady([], file);
    expect(existsSync(file)).toBe(false);
  });
});

describe('a long run in parts', () => {
  const items = Array.from({ length: 40 }, (_, n) => ({ id: `long: f${n}`, seconds: (n * 37) % 300 }));

  it('does everything once, in parts of about the same length, and the same ones every time', () => {
    const parts = share(items, 5);
    expect(parts.flatMap(({ ids }) => ids).sort()).toEqual(items.map(({ id }) => id).sort());
    const lengths = parts.map(({ seconds }) => seconds);
    expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThan(300);
    expect(share([...items].reverse(), 5)).toEqual(parts);
  });

  it('has a file that takes long done in pieces, every test in one of them', () => {
    const names = Array.from({ length: 7 }, (_, n) => `t${n}`);
    const pieces = piecesOf('test/long/a.test.ts', 1_500, names);
    expect(pieces.map(({ id }) => id)).toEqual(['1/3', '2/3', '3/3'].map((of) => `long: test/long/a.test.ts ${of}`));
    expect(pieces.flatMap(({ only }) => only).sort()).toEqual(names);
    expect(Math.max(...pieces.map(({ seconds }) => seconds))).toBeLessThan(700);
    expect(piecesOf('a', 1_500, ['one'])).toEqual([{ id: 'long: a', file: 'a', only: null, seconds: 1_500 }]);
    expect(piecesOf('a', 500, names)).toMatchObject([{ id: 'long: a', only: null }]);
  });

  it('takes as long as its projects one after the other, each no shorter than its longest piece', () => {
    const piece = (project: string | null, alone: number, atOnce: number) => ({
      project,
      alone,
      seconds: alone / atOnce,
    });
    expect(secondsOfPart([piece('long', 300, 3), piece('long', 30, 3), piece('long-timed', 50, 1)])).toBe(300);
    expect(secondsOfPart([piece('long', 30, 3), piece('long-timed', 50, 1), piece('system', 40, 4)])).toBe(90);
    expect(secondsOfPart([piece('long', 300, 3), piece('long', 300, 3), piece('long', 600, 3)])).toBe(600);
    expect(secondsOfPart([{ project: null, seconds: 20 }, piece('long', 30, 3)])).toBe(50);
  });

  it('does several pieces side by side, and tells them as one', { timeout: 60_000 }, async () => {
    const cwd = smallProject();
    const meets = (own: string, other: string) =>
      `import { existsSync, writeFileSync } from 'node:fs';
       import { expect, test } from 'vitest';
       test('meets the other', { timeout: 20_000 }, async () => {
         writeFileSync('${own}', '');
         await expect.poll(() => existsSync('${other}'), { timeout: 15_000 }).toBe(true);
       });
       test('not asked for', () => { throw new Error('it ran'); });`;
    writeFileSync(path.join(cwd, 'c.test.ts'), meets('c', 'd'));
    writeFileSync(path.join(cwd, 'd.test.ts'), meets('d', 'c'));
    const pieces = [
      { file: 'a.test.ts', only: ['breaks a promise'] },
      { file: 'c.test.ts', only: ['meets the other'] },
      { file: 'd.test.ts', only: ['meets the other'] },
    ];
    const result = await runPieces('clients', pieces, 2, { folder: cwd, cwd, show: false });
    expect(result).toMatchObject({ name: 'clients', passed: 2, failed: 1 });
    expect(result.failures.join()).toMatch(/^a\.test\.ts: breaks a promise: /);
    expect(result.files.map(({ file }) => file).sort()).toEqual(['a.test.ts', 'c.test.ts', 'd.test.ts']);
  });

  it('leaves the processor to others where it is told to', { timeout: 60_000 }, async () => {
    const cwd = smallProject();
    writeFileSync(
      path.join(cwd, 'e.test.ts'),
      `import os from 'node:os';
       import { expect, test } from 'vitest';
       test('comes after others', () => expect(os.getPriority()).toBeGreaterThan(${os.getPriority()}));`,
    );
    const run = { project: 'clients', files: ['e.test.ts'], folder: cwd, cwd, show: false };
    expect(await runVitest({ ...run, low: true })).toMatchObject({ passed: 1 });
    expect(await runVitest(run)).toMatchObject({ passed: 0, failed: 1 });
  });

  it('is whole when every part of one commit is there', () => {
    const all = ['a', 'b', 'c'];
    const part = (n: number, ids: string[], commit = 'x') => ({ part: n, of: 2, ids, commit });
    const whole = { commit: 'x', of: 2 };
    expect(whyNotWhole([part(1, ['a', 'c']), part(2, ['b'])], whole, all)).toBeNull();
    expect(whyNotWhole([part(2, ['b'])], whole, all)).toBe('still to run: --part 1/2');
    expect(whyNotWhole([part(1, ['a']), part(2, ['b'])], whole, all)).toMatch(/do not make up the whole/);
    expect(whyNotWhole([part(1, ['a', 'b']), part(2, ['b', 'c'])], whole, all)).toMatch(/do not make up the whole/);
    expect(whyNotWhole([part(1, ['a', 'c'], 'y'), part(2, ['b'])], whole, all)).toMatch(/do not make up the whole/);
  });

  it('is reported with every part, its failures, and what was unsteady', () => {
    const result = { name: 'long', passed: 3, failed: 1, skipped: 0, seconds: 60, failures: ['f: late'] };
    const part = { of: 2, commit: 'abc', at: '2026-11-18T19:00:00.000Z', ids: [] };
    const steady = { ...part, part: 1, results: [result] };
    const other = {
      ...part,
      part: 2,
      results: [{ ...result, failures: [], failed: 0, unsteady: [{ failure: 'g: slow' }] }],
    };
    const text = longReport([steady, other]);
    for (const line of [
      '- commit: abc',
      '| 1/2 | 2026-11-18T19:00Z | 3 | 1 | 0 | 60 |',
      '| long | 6 | 1 | 0 | 120 |',
      '- long: f: late',
      '- g: slow',
    ])
      expect(text).toContain(line);
  });

  it.each(['0/3', '4/3', 'x', '', '1/0', '1', '-1/2'])('is not asked for by %s', (text) =>
    expect(parsePart(text)).toBeNull(),
  );
});
