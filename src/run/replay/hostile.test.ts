import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { defaultConfig } from '../config/schema.ts';
import { judgeLimits, type ReplayLine, replayFile } from './replay.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'wk-hostile-'));
afterAll(() => rmSync(folder, { recursive: true }));
const options = { limits: judgeLimits(defaultConfig()), sinceMs: null };
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
  expect(done).toMatchObject({ ok: true, value: { lines: 100_000, steps: 50_000, findings: {}, set_aside: {} } });
}, 60_000);

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
        expect(done).toMatchObject({ ok: true, value: { findings: {} } });
      },
    ),
    { numRuns: 100 },
  );
}, 60_000);
