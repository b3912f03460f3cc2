// What is printed fits the terminal it is printed on, and its locale.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { barChart } from './chart.ts';
import { inLocale, isUnicode, jsonInLocale } from './locale.ts';
import { table, wrapped } from './output.ts';

const head = ['AGENT', 'STATE', 'FOR', 'CONTEXT', 'LAST TURN', 'SOURCE', 'MAY'];
const rows = [
  ['api-ps', 'working/tool Bash', '3h 10m', '61% of 200k', 'ok', 'registry', 'manage'],
  ['a-rather-long-name-🎉-日本-ps', 'waiting/permission', '2d 4h', '-', 'interrupted', 'transcript 12s old', 'observe'],
].map((row) => row.map((text) => ({ text })));
/** East Asian and emoji characters take two. */
const columns = (line: string) => [...line].reduce((sum, one) => sum + (/[日本🎉]/u.test(one) ? 2 : 1), 0);

describe('a table', () => {
  it.each([30, 40, 60, 80, 300])('keeps to %d columns', (room) => {
    for (const line of table(head, rows, room).split('\n')) expect(columns(line), line).toBeLessThanOrEqual(room);
  });

  it('is as wide as it needs where there is room', () =>
    expect(table(head, rows, 300).split('\n')).toEqual([
      'AGENT                          STATE               FOR     CONTEXT      LAST TURN    SOURCE              MAY',
      'api-ps                         working/tool Bash   3h 10m  61% of 200k  ok           registry            manage',
      'a-rather-long-name-🎉-日本-ps  waiting/permission  2d 4h   -            interrupted  transcript 12s old  observe',
    ]));

  it('says everything on a terminal of 40 columns, in lines instead of columns', () =>
    expect(table(head, rows, 40).split('\n')).toEqual([
      'api-ps',
      '  state working/tool Bash, for 3h 10m,',
      '  context 61% of 200k, last turn ok,',
      '  source registry, may manage',
      'a-rather-long-name-🎉-日本-ps',
      '  state waiting/permission, for 2d 4h,',
      '  context -, last turn interrupted,',
      '  source transcript 12s old, may observe',
    ]));
});

it('a chart keeps to the terminal, and shows the newest', () => {
  const bars = Array.from({ length: 100 }, (_, n) => ({ percent: n, mark: n === 99 ? 'c' : null }));
  for (const room of [10, 40, 80, 300])
    for (const line of barChart(bars, room)) expect(line.length).toBeLessThanOrEqual(Math.min(80, room));
  expect(barChart(bars, 40).at(-1)?.trim()).toBe('c');
});

it('a word longer than the terminal stays whole: it may be one to be pasted', () => {
  const command = `watchkeeper/${'x'.repeat(60)}`;
  expect(wrapped(`run ${command} now`, '  ', 40)).toBe(`  run\n  ${command}\n  now`);
});

describe('a locale', () => {
  it.each([
    ['nothing is said of it', {}, true],
    ['it is UTF-8', { LANG: 'de_DE.UTF-8' }, true],
    ['it is utf8', { LANG: 'C.utf8' }, true],
    ['it is C', { LANG: 'C' }, false],
    ['it is another one', { LANG: 'de_DE.ISO-8859-1' }, false],
    ['one counts more', { LANG: 'de_DE.UTF-8', LC_ALL: 'C' }, false],
    ['characters are set apart', { LANG: 'C', LC_CTYPE: 'en_US.UTF-8' }, true],
    ['one is empty', { LANG: 'C', LC_ALL: '' }, false],
  ])('shows more than ASCII or not: %s', (_name, environment, shows) => expect(isUnicode(environment)).toBe(shows));

  it('without UTF-8 gets a text in ASCII', () => {
    expect(inLocale('idle → “naïve-🎉” … 50–60 %', false)).toBe('idle -> "na?ve-?" ... 50-60 %');
    expect(inLocale('idle → 🎉', true)).toBe('idle → 🎉');
  });

  it('without UTF-8 gets JSON that says the same', () => {
    const json = jsonInLocale(JSON.stringify({ a: 'naïve-🎉' }), false);
    expect(json).toMatch(/^[\0-\x7f]+$/);
    expect(JSON.parse(json)).toEqual({ a: 'naïve-🎉' });
  });
});

describe('colour', () => {
  const isTTY = process.stdout.isTTY;
  afterEach(() => {
    process.stdout.isTTY = isTTY;
    vi.unstubAllEnvs();
    vi.resetModules();
  });

  it.each([
    ['a terminal', true, '', true],
    ['a terminal whose user wants none', true, '1', false],
    ['a pipe', false, '', false],
  ])('on %s', async (_name, terminal, noColor, colours) => {
    process.stdout.isTTY = terminal;
    vi.stubEnv('NO_COLOR', noColor);
    vi.resetModules();
    const fresh = await import('./output.ts');
    expect(fresh.table(['A'], [[{ text: 'x', color: 'red' }]], 80).includes('\u001b[31m')).toBe(colours);
  });
});
