import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judge, limits, run } from '../../../test/runs/scripted-run.ts';
import { parseTranscriptLine } from '../../clients/claude-code/transcript.ts';
import { parseNeutralLine } from '../../clients/neutral-run.ts';
import type { ErrorKind } from '../../model/error-kind.ts';
import type { RunEvent } from '../../model/run-event.ts';
import { untrusted } from '../../model/text.ts';
import { RunJudge } from './judge.ts';

const anything = fc.oneof(fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null), fc.jsonValue());
const kinds = [
  'user',
  'assistant',
  'thinking',
  'tool_call',
  'tool_result',
  'usage',
  'api_error',
  'compact',
  'system',
  'aux',
  'output',
  'end',
];
const neutralRecord = fc.record(
  {
    src_index: fc.oneof(fc.nat(50), anything),
    i: fc.oneof(fc.nat(50), anything),
    ts: fc.oneof(fc.nat(5_000), anything),
    kind: fc.oneof(fc.constantFrom(...kinds), anything),
    tool: fc.oneof(fc.constantFrom('Bash', 'Edit', 'Task', '__proto__'), anything),
    target: anything,
    args_hash: anything,
    call_id: fc.oneof(fc.constantFrom('a', 'b', 'c'), anything),
    is_error: anything,
    out_hash: anything,
    out_len: anything,
    text: anything,
    usage: anything,
    sub: fc.oneof(fc.constantFrom('api_error', 'compact_boundary', 'turn_duration', 'progress'), anything),
    extra: anything,
    side: anything,
    model: anything,
  },
  { requiredKeys: [] },
);
const part = fc.record(
  {
    type: fc.constantFrom('tool_use', 'tool_result', 'text'),
    id: anything,
    tool_use_id: anything,
    name: anything,
    input: anything,
    content: anything,
    text: anything,
    is_error: anything,
  },
  { requiredKeys: ['type'] },
);
const transcriptRecord = fc.record(
  {
    type: fc.constantFrom('user', 'assistant', 'system', 'progress'),
    subtype: fc.constantFrom('api_error', 'compact_boundary', 'turn_duration'),
    timestamp: anything,
    uuid: anything,
    isApiErrorMessage: fc.boolean(),
    message: fc.oneof(fc.record({ content: fc.oneof(fc.array(part), anything) }), anything),
  },
  { requiredKeys: ['type'] },
);

describe('bad input', () => {
  it('changes a counter and never throws, whatever a neutral file says', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(neutralRecord, anything)), (records) => {
        const events = records.flatMap((record) => {
          const parsed = parseNeutralLine(JSON.stringify(record) ?? '');
          return parsed.ok ? parsed.events : [];
        });
        judge(events);
      }),
      { numRuns: 300 },
    );
  });

  it('changes a counter and never throws, whatever a transcript says', () => {
    fc.assert(
      fc.property(fc.array(transcriptRecord), (records) => {
        const events = records.flatMap((record, index) => {
          const parsed = parseTranscriptLine(JSON.stringify(record), String(index));
          return parsed.ok ? parsed.events.map((event): RunEvent => ({ ...event, index, side: parsed.sidechain })) : [];
        });
        judge(events);
      }),
      { numRuns: 300 },
    );
  });

  it('raises nothing on a healthy run in which events come twice', () => {
    const healthy = run()
      .times(12, (r, turn) => r.bash(`cat ${turn}`, `text ${'abcdefghijkl'[turn]}`))
      .says('done', true).events;
    fc.assert(
      fc.property(fc.array(fc.nat(healthy.length - 1), { maxLength: 60 }), (again) => {
        const doubled = healthy.flatMap((event, index) => [
          event,
          ...again.filter((one) => one === index).map(() => event),
        ]);
        expect(judge(doubled)).toEqual([]);
      }),
    );
  });

  it('raises no silence on times that are missing or go back', () => {
    const script = run().calls('Edit', 'a').events;
    const back = script.map((event, index) => ({ ...event, atMs: event.atMs - index * 3_600_000 }));
    const missing = script.map((event) => ({ ...event, atMs: Number.NaN }));
    expect([...judge(back), ...judge(missing)]).toEqual([]);
  });

  it('of a subagent says nothing about its parent', () =>
    expect(
      judge(
        run()
          .times(20, (r) => r.bash('a', 'b'))
          .events.map((event) => ({ ...event, side: true })),
      ),
    ).toEqual([]));
});

describe('structured records', () => {
  const retry = (status: number | null) =>
    ({ kind: 'retry', attempt: 1, attemptsMax: 10, status, untilMs: 0 }) as const;
  const given = (status: number | null, error: ErrorKind = 'unknown') =>
    ({ kind: 'api-error', error, status, text: untrusted(''), resetsAtMs: null }) as const;

  it.each([
    ['a 529 that is retried', 'rate-limited', run().add(retry(529))],
    ['a 429 that ended the turn', 'rate-limited', run().add(given(429))],
    ['a limit without a status', 'rate-limited', run().add(given(null, 'rate_limit'))],
    ['a 500 that ended the turn', 'api-error', run().add(given(500))],
    ['a lost connection', 'api-error', run().add(retry(null))],
    ['a login that is not accepted', 'auth-failed', run().add(given(401, 'authentication_failed'))],
    ['a login of no kind, by its status', 'auth-failed', run().add(given(401))],
    [
      'a login that was tried again before the turn was given up',
      'auth-failed',
      run().add(retry(401)).add(given(401, 'authentication_failed')),
    ],
    ['a login that is refused three times in a row', 'auth-failed', run().times(4, (r) => r.add(retry(401)))],
    [
      'a compaction by itself',
      'context-exhausted',
      run().add({ kind: 'compacted', trigger: 'auto', tokensBefore: 1, tokensAfter: null }),
    ],
  ])('%s is %s', (_, check, script) => expect(script.found()).toEqual([check]));

  it('an error and a login that is not accepted after it are two', () =>
    expect(run().add(retry(500)).add(given(401, 'authentication_failed')).found()).toEqual([
      'api-error',
      'auth-failed',
    ]));

  it('a login that is renewed at the first refusal is none', () =>
    expect(run().user().add(retry(401)).add(retry(401)).says('so').add(retry(401)).says('done', true).found()).toEqual(
      [],
    ));

  it('what is tried again is named', () =>
    expect(
      run()
        .add(retry(529))
        .says('so')
        .add(retry(429))
        .says('so')
        .times(3, (r) => r.add(retry(403)))
        .findings()
        .map(({ text }) => text),
    ).toEqual([
      'the client tries again (529, overloaded)',
      'the client tries again (429, too many requests)',
      'the client tries again (403, not let in)',
    ]));

  it('a limit names its reset', () => {
    const resetsAtMs = Date.parse('2026-11-15T15:00:00Z');
    const [finding] = run()
      .add({ ...given(429, 'rate_limit'), resetsAtMs })
      .findings();
    expect(finding?.text).toBe('the turn was given up (429), resets 2026-11-15T15:00:00.000Z');
  });

  it('ten retries of one request are one finding', () =>
    expect(
      run()
        .times(10, (r) => r.add(retry(529)))
        .says('so')
        .found(),
    ).toEqual(['rate-limited']));

  it('a compaction that was asked for is none', () =>
    expect(run().add({ kind: 'compacted', trigger: 'manual', tokensBefore: 1, tokensAfter: null }).found()).toEqual(
      [],
    ));

  it('prose about limits and errors is none', () => {
    const words = 'API Error: 429 {"type":"error"} rate limit, overloaded, Error: Context limit reached';
    expect(run().says(words).bash('cat log', words).user().says(words, true).found()).toEqual([]);
  });
});

it('a step costs the same late in a run as early', () => {
  const one = new RunJudge(limits, () => {});
  const took = (from: number) => {
    const events = run().times(3_000, (r, turn) => r.bash(`cat ${from + turn}`, `text ${from + turn}`)).events;
    const fresh = events.map((event) => ({ ...event, key: `${from}-${event.key}` }));
    // By the processor's time: others may be busy.
    const before = process.cpuUsage();
    for (const event of fresh) one.take(event);
    return process.cpuUsage(before).user / 1000;
  };
  took(0);
  const early = took(3_000);
  for (let part = 2; part < 8; part += 1) took(part * 3_000);
  // A cost that grew with the run would be several times as high.
  expect(took(24_000)).toBeLessThan(early * 4 + 50);
});
