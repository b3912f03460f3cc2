import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { resultSign } from '../clients/signs.ts';
import { defaultConfig } from '../config/schema.ts';
import { judgeLimits, type ReplayLine, replayFile } from './replay.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'wk-hostile-'));
afterAll(() => rmSync(folder, { recursive: true }));
const nowMs = Date.parse('2026-11-16T00:00:00Z');
const options = { limits: judgeLimits(defaultConfig()), sinceMs: null, nowMs };
const file = path.join(folder, 'run.jsonl');

async function replay(content: string) {
  writeFileSync(file, content);
  const lines: ReplayLine[] = [];
  return { done: await replayFile({ file, name: 'run.jsonl' }, options, (line) => lines.push(line)), lines };
}

const words = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('__proto__', 'constructor', '\u0000', '\u001b[2J', '\u202e', '429 rate limit', 'Error: ', '0', ''),
);
const anything = fc.oneof(words, fc.constantFrom(null, true, -1, 1e300, [], {}), fc.jsonValue({ maxDepth: 2 }));
const time = fc.oneof(
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  anything,
);
const id = fc.oneof(fc.constantFrom('a', 'b', 'c'), anything);

/** Records of a transcript in which any field may be anything. */
const record = fc.oneof(
  anything,
  fc.record({
    type: fc.constantFrom('user', 'assistant', 'system', 'progress', 'attachment', 'queue-operation', 'x'),
    sessionId: fc.constant('s'),
    uuid: id,
    timestamp: time,
    isSidechain: fc.oneof(fc.boolean(), anything),
    subtype: fc.oneof(fc.constantFrom('turn_duration', 'compact_boundary', 'api_error'), anything),
    toolUseResult: anything,
    message: fc.oneof(
      anything,
      fc.record({
        content: fc.oneof(
          anything,
          fc.array(
            fc.record({
              type: fc.constantFrom('tool_use', 'tool_result', 'text', 'thinking'),
              id,
              tool_use_id: id,
              name: fc.oneof(fc.constantFrom('Bash', 'Edit', 'Read'), anything),
              input: fc.oneof(anything, fc.record({ command: anything, old_string: words, new_string: words })),
              content: anything,
              text: anything,
              is_error: fc.oneof(fc.boolean(), anything),
            }),
            { maxLength: 4 },
          ),
        ),
      }),
    ),
  }),
);
const line = fc.oneof(
  { weight: 8, arbitrary: record.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }).map((text) => text.replaceAll('\n', ' ')) },
);

it('whatever is in a record, it is read to its end, and each finding that is told is told once and closed once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 60 }), async (lines) => {
      const begin = '{"type":"mode","sessionId":"s"}';
      const { done, lines: told } = await replay([begin, ...lines].join('\n'));
      expect(done.ok).toBe(true);
      const open = new Set<string>();
      for (const one of told) {
        if (!('finding' in one)) continue;
        const key = `${one.finding.id}:${one.finding.since}`;
        if (one.event === 'open') open.add(key);
        else expect(open.delete(key)).toBe(true);
      }
      // Everything that is shown can be shown on a terminal.
      expect(told.every((one) => !/[\u0000-\u001f\u007f-\u009f\u202e]/.test(JSON.stringify(one)))).toBe(true);
    }),
    { numRuns: 150 },
  );
}, 60_000);

it('a hundred thousand records of one minute are counted, not taken for silence or loops', async () => {
  const startMs = Date.parse('2026-03-01T10:00:00.000Z');
  const records: string[] = [];
  for (let index = 0; index < 50_000; index += 1) {
    const timestamp = new Date(startMs + Math.floor(index * 1.2)).toISOString();
    const base = { sessionId: 's', timestamp };
    const call = { type: 'tool_use', id: `t${index}`, name: 'Read', input: { file_path: `/src/${index}.ts` } };
    const result = { type: 'tool_result', tool_use_id: `t${index}`, content: `file ${index} says ${'x'.repeat(300)}` };
    records.push(
      JSON.stringify({ ...base, type: 'assistant', uuid: `a${index}`, message: { model: 'm', content: [call] } }),
      JSON.stringify({ ...base, type: 'user', uuid: `u${index}`, message: { content: [result] } }),
    );
  }
  const { done } = await replay(records.join('\n'));
  expect(done).toMatchObject({ ok: true, value: { lines: 100_000, steps: 50_000 } });
  expect(done.ok && [done.value.findings, done.value.set_aside]).toEqual([{}, {}]);
}, 60_000);

it('arguments that are nested without end are no reason to stop', async () => {
  const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
  const call = `{"type":"assistant","uuid":"a","sessionId":"s","message":{"content":[{"type":"tool_use","id":"t","name":"x","input":{"a":${deep}}}]}}`;
  const { done } = await replay(['{"type":"mode","sessionId":"s"}', call, call.replace('"a"', '"b"')].join('\n'));
  expect(done).toMatchObject({ ok: true, value: { lines: 3, events: 4 } });
});

it('a word without end is gone through once', () => {
  // Each takes a hundred times as long where every number in it is looked at as the beginning of an id.
  for (let turn = 0; turn < 200; turn += 1)
    expect(resultSign(`${turn}${'a1'.repeat(8_000)}z`, false).hash).toHaveLength(13);
}, 30_000);

it('records out of order, twice, without a time and without their calls make no finding', async () => {
  const steps = Array.from({ length: 40 }, (_, index) => [
    {
      type: 'assistant',
      uuid: `a${index}`,
      message: { content: [{ type: 'tool_use', id: `t${index}`, name: 'Read', input: { file_path: `/${index}` } }] },
    },
    {
      type: 'user',
      uuid: `u${index}`,
      message: { content: [{ type: 'tool_result', tool_use_id: `t${index}`, content: `${index} ${'y'.repeat(300)}` }] },
    },
  ]).flat();
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray([...steps, ...steps]),
      fc.array(fc.nat(10_000), { minLength: 1 }),
      async (some, times) => {
        const lines = some.map((one, index) => {
          const atMs = 1_700_000_000_000 + (times[index % times.length] ?? 0);
          return JSON.stringify({
            sessionId: 's',
            ...one,
            ...(index % 7 === 0 ? {} : { timestamp: new Date(atMs).toISOString() }),
          });
        });
        const { done } = await replay(['{"type":"mode","sessionId":"s"}', ...lines].join('\n'));
        expect(done.ok && done.value.findings).toEqual({});
      },
    ),
    { numRuns: 100 },
  );
}, 60_000);

describe('times that cannot be', () => {
  const startMs = Date.parse('2026-03-01T10:00:00.000Z');
  const hourMs = 3_600_000;
  /** A healthy turn, a record a second: every other one is a call, the one after it its result. */
  const healthy = Array.from({ length: 80 }, (_, index) => ({ index, atMs: startMs + index * 1_000 }));
  type Timed = (typeof healthy)[number];

  function recordOf({ index, atMs }: Timed): object {
    const base = { sessionId: 's', uuid: `u${index}`, timestamp: new Date(atMs).toISOString() };
    const id = `t${Math.floor(index / 2)}`;
    if (index % 2 === 0) {
      const call = { type: 'tool_use', id, name: 'Bash', input: { command: `make ${id}` } };
      return { ...base, type: 'assistant', message: { model: 'm', content: [call] } };
    }
    const result = { type: 'tool_result', tool_use_id: id, content: `${id} ${'z'.repeat(300)}` };
    return { ...base, type: 'user', message: { content: [result] } };
  }

  const summaryOf = async (run: Timed[]) => {
    const { done } = await replay(run.map((one) => JSON.stringify(recordOf(one))).join('\n'));
    return done.ok ? done.value : null;
  };
  const foundIn = async (run: Timed[]) => (await summaryOf(run))?.findings;
  const at = (place: number, atMs: number) => healthy.map((one) => (one.index === place ? { ...one, atMs } : one));
  /** All records from there on, later or earlier by so much. */
  const moved = (run: Timed[], from: number, to: number, byMs: number) =>
    run.map((one) => (one.index >= from && one.index < to ? { ...one, atMs: one.atMs + byMs } : one));
  /** One call that is silent for 40 minutes, near the end. */
  const withSilence = (run: Timed[]) => moved(run, 71, 80, 40 * 60_000);

  it.each([0, 1, 40, 41, 79])(
    'a record of the year 2090 is no silence, and hides none after it (record %i)',
    async (place) => {
      const run = at(place, Date.parse('2090-01-01T00:00:00Z'));
      expect(await foundIn(run)).toEqual({});
      expect((await summaryOf(run))?.set_aside).toEqual({ without_time: place % 2 === 0 ? 2 : 1 });
      expect(await foundIn(withSilence(run))).toEqual({ 'stalled-turn': 1 });
    },
  );

  it.each([0, 1, 40, 41])('one that is five hours ahead neither (record %i)', async (place) => {
    const run = at(place, startMs + 5 * hourMs);
    expect(await foundIn(run)).toEqual({});
    expect(await foundIn(withSilence(run))).toEqual({ 'stalled-turn': 1 });
  });

  it.each([0, 1, 40, 41, 79])('nor one of the year 1970 (record %i)', async (place) => {
    const run = at(place, 5_000);
    expect(await foundIn(run)).toEqual({});
    expect(await foundIn(withSilence(run))).toEqual({ 'stalled-turn': 1 });
  });

  it('a clock that begins in 1970 and is set right makes no silence of decades', async () => {
    const run = moved(healthy, 0, 10, -startMs);
    expect(await foundIn(run)).toEqual({});
    expect(await foundIn(withSilence(run))).toEqual({ 'stalled-turn': 1 });
  });

  it.each([10, 50])('a clock that goes back by hours for %i records and comes back makes none', async (length) => {
    const run = moved(healthy, 15, 15 + length, -3 * hourMs);
    expect(await foundIn(run)).toEqual({});
    expect(await foundIn(withSilence(run))).toEqual({ 'stalled-turn': 1 });
  });

  it('a clock that is set back for good still shows silences', async () => {
    const run = moved(healthy, 15, 80, -3 * hourMs);
    expect(await foundIn(run)).toEqual({});
    expect(await foundIn(withSilence(run))).toEqual({ 'stalled-turn': 1 });
  });

  it('single wrong times, whichever and wherever, make no finding', async () => {
    const date = fc.date({ noInvalidDate: true, min: new Date('1960-01-01'), max: new Date('2040-01-01') });
    // The last one has nobody after it who could deny it.
    const wrong = fc.array(fc.record({ place: fc.nat(78), date }), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(wrong, async (changes) => {
        const times = new Map(changes.map((change) => [change.place, change.date.getTime()]));
        // Single ones: none beside another.
        const run = healthy.map((one) => {
          const atMs = times.has(one.index - 1) ? undefined : times.get(one.index);
          return atMs === undefined ? one : { ...one, atMs };
        });
        expect(await foundIn(run)).toEqual({});
      }),
      { numRuns: 100 },
    );
  }, 60_000);
});
