import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fHalf, median, shuffled, wilson } from '../model/statistics.ts';
import { type EvalDocument, evaluate } from './eval.ts';

const own = path.resolve(import.meta.dirname, '../../test/fixtures/runs');
const shared = [path.resolve(import.meta.dirname, '../../../shared/data')].find(existsSync);

async function figuresOf(folder: string): Promise<EvalDocument> {
  const done = await evaluate(folder, () => {});
  if (!done.ok) throw new Error(done.message);
  return done.value;
}

describe('eval on our own recordings of the real client', () => {
  it('finds each trouble, and nothing in the turns of hard work', async () => {
    const result = await figuresOf(own);
    expect(result).toMatchObject({
      runs: 1,
      labels: 7,
      unreadable: 0,
      overall: { tp: 4, fp: 0, fn: 0, precision: 1, recall: 1 },
      hard_negatives: { n: 3, passed: 3 },
      wrong: [],
    });
  });

  it('counts what it cannot read and goes on', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'wk-eval-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const label = {
      id: 'a',
      label: 'healthy',
      format: 'x',
      onset_index: null,
      end_index: null,
      hard_negative: false,
      sample: 'random',
    };
    const lines = [
      '{',
      '{}',
      ...['../../../etc/passwd', 'none.ndjson', 'odd.ndjson'].map((events) => JSON.stringify({ ...label, events })),
    ];
    writeFileSync(path.join(folder, 'labels.jsonl'), lines.join('\n'));
    writeFileSync(path.join(folder, 'odd.ndjson'), 'nonsense\n{"src_index":1,"kind":"user","text":"hello"}\n');
    expect(await figuresOf(folder)).toMatchObject({
      runs: 1,
      unreadable: 4,
      unread: [
        'line 1 of labels.jsonl: no JSON',
        expect.stringMatching(/^line 2 of labels.jsonl: id: /),
        expect.stringMatching(/passwd is outside of /),
        expect.stringMatching(/none.ndjson is not there$/),
      ],
      overall: { tp: 0, fp: 0, fn: 0, recall: null },
    });
  });

  it('says the same of a plain file as of a packed one', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'wk-eval-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const output = `all is well\n${'one more line of it\n'.repeat(300)}`;
    const lines = Array.from({ length: 8 }, (_, at) => {
      const call = { type: 'tool_use', id: `t${at}`, name: 'Bash', input: { command: 'make' } };
      const result = { tool_use_id: `t${at}`, type: 'tool_result', content: output };
      const base = { parentUuid: 'p', sessionId: 's' };
      return [
        { ...base, type: 'assistant', message: { content: [call] }, uuid: `a${at}` },
        { ...base, type: 'user', message: { content: [result] }, toolUseResult: { stdout: output }, uuid: `u${at}` },
      ].map((record) => JSON.stringify(record));
    });
    const text = lines.flat().join('\n');
    writeFileSync(path.join(folder, 'plain.jsonl'), text);
    writeFileSync(path.join(folder, 'packed.jsonl.gz'), gzipSync(text));
    const label = { label: 'looping', format: 'claude-code', onset_index: 0, end_index: 15, hard_negative: false };
    const labels = ['plain.jsonl', 'packed.jsonl.gz'].map((events) =>
      JSON.stringify({ ...label, id: events, events, sample: 'random' }),
    );
    writeFileSync(path.join(folder, 'labels.jsonl'), labels.join('\n'));
    expect(await figuresOf(folder)).toMatchObject({ runs: 2, overall: { tp: 2, fp: 0, fn: 0 } });
  });

  it('says what is missing', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'wk-eval-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [first = ''] = readFileSync(path.join(own, 'labels.jsonl'), 'utf8').split('\n');
    for (const [labels, reason] of [
      ['', 'no-labels'],
      ['nonsense\n', 'no-labels'],
      [first, 'no-runs'],
    ]) {
      writeFileSync(path.join(folder, 'labels.jsonl'), labels ?? '');
      expect(await evaluate(folder, () => {})).toMatchObject({ ok: false, reason });
    }
    expect(await evaluate('/nowhere', () => {})).toMatchObject({ ok: false, reason: 'not-found' });
  });
});

describe.skipIf(shared === undefined)('eval on the labelled runs (needs ../shared/data, skipped without)', () => {
  it('is right as often as docs/reports/eval.md says', async () => {
    const result = await figuresOf(shared ?? '');
    const { loop, silence, limits, errors, context } = result.by_family;
    expect(loop.precision).toBeGreaterThanOrEqual(0.9);
    expect(silence.precision).toBeGreaterThanOrEqual(0.85);
    expect(silence.recall).toBeGreaterThanOrEqual(0.9);
    for (const family of [limits, errors, context]) expect(family).toMatchObject({ fp: 0, fn: 0, unjudged: 0 });
    expect(result.hard_negatives.passed / result.hard_negatives.n).toBeGreaterThanOrEqual(0.9);
  }, 120_000);
});

describe('the figures', () => {
  it('intervals are those of Wilson', () => {
    expect(wilson(0, 0)).toBeNull();
    expect(wilson(39, 39)).toEqual([0.91, 1]);
    expect(wilson(5, 10)).toEqual([0.237, 0.763]);
  });

  it('F0.5 prefers precision', () => {
    expect(fHalf(10, 0, 10)).toBeGreaterThan(fHalf(10, 10, 0) ?? 0);
    expect(fHalf(0, 0, 0)).toBeNull();
  });

  it('medians leave out what has no time; folds are the same every time', () => {
    expect(median([3, Number.NaN, 1])).toBe(2);
    expect(median([])).toBeNull();
    expect(shuffled([1, 2, 3, 4, 5], 7)).toEqual(shuffled([1, 2, 3, 4, 5], 7));
  });
});
