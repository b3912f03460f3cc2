import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leanLine, writtenText } from './lean-line.ts';
import { parseTranscriptLine } from './transcript.ts';

const text = `const a = "b"; {"uuid":"x"} ,"toolUseResult": → ${'x '.repeat(2_000)}`;
const before = {
  parentUuid: 'p',
  isSidechain: false,
  type: 'user',
  message: { role: 'user', content: [{ tool_use_id: 't', type: 'tool_result', content: text.slice(0, 200) }] },
};
const own = { uuid: 'u', timestamp: '2026-03-01T10:00:00.000Z' };
const after = { userType: 'external', cwd: '/p', sessionId: 's', version: '2.1.325', gitBranch: 'main' };

/** What is left of a record; null: it is read whole. */
function left(record: object | string): unknown {
  const lean = leanLine(Buffer.from(typeof record === 'string' ? record : JSON.stringify(record)));
  if (lean === null) return null;
  try {
    return JSON.parse(lean.text);
  } catch {
    return null;
  }
}

describe("the client's own copy of a result", () => {
  it.each([
    ['of the present version', { ...before, ...own, toolUseResult: { stdout: text, stderr: '' }, ...after }],
    ['of an older one', { ...before, ...after, toolUseResult: { file: { content: text, numLines: 9 } }, ...own }],
    ['that is a text', { ...before, ...own, toolUseResult: `Error: ${text}`, ...after }],
  ])('%s is left out, and all the rest is there', (_name, record) => {
    const { toolUseResult: _copy, ...rest } = record;
    expect(left(record)).toEqual(rest);
  });

  it.each([
    ['work left running in a shell', { stdout: text, backgroundTaskId: 'b1' }],
    ['a subagent left running', { status: 'async_launched', agentId: 'a1', prompt: text }],
  ])('with %s is read', (_name, toolUseResult) => {
    expect(left({ ...before, ...own, toolUseResult, ...after })).toBeNull();
  });

  it('behind which the write broke off and the next record follows is read whole', () => {
    const record = JSON.stringify({ ...before, ...own, toolUseResult: { stdout: text }, ...after });
    expect(left(`${record.slice(0, -2_500)}${record}`)).toBeNull();
  });

  it('is not taken for a key of that name inside of something else', () => {
    const content = [{ type: 'tool_use', id: 't', name: 'x', input: { a: 1, toolUseResult: text, b: 2 } }];
    expect(left({ ...before, message: { content }, ...own, ...after })).toBeNull();
    const nested = { ...before, message: { content, toolUseResult: { b: text }, c: 1 }, ...after, ...own };
    expect(left(nested)).toBeNull();
  });
});

/** Everything that is said of a line, the hash of an output included. */
function said(line: string, lean: boolean): unknown {
  const bytes = Buffer.from(line);
  const cut = lean ? leanLine(bytes) : null;
  const output = cut?.output ?? null;
  const whole = output === null ? null : () => writtenText(bytes.subarray(output.from, output.to)) ?? '';
  const short = cut === null ? null : parseTranscriptLine(cut.text, '0', { of: cut.of, output: whole });
  const parsed = short?.ok ? short : parseTranscriptLine(line, '0');
  if (!parsed.ok) return null;
  return parsed.events.map(({ fact, ...event }) => {
    if (fact.kind !== 'tool-result' || fact.sign === undefined) return { ...event, fact };
    const { start, lead, hash, excuse, chars } = fact.sign;
    // Of a long one it is not asked how long it is.
    return { ...event, fact: { ...fact, sign: { start, lead, hash, excuse, chars: Math.min(chars, 300) } } };
  });
}

const pieces = fc.constantFrom(
  ...['word ', 'wörter ', '→\t', '\n', '  ', '"quoted" ', '\\ ', '\u0001', '{"a":"b"},', '"}]},"uuid":"', '🙂 ', '\\"'],
  ...[
    '2026-03-01 10:11:12 ',
    'pid 4711 ',
    '/tmp/x-1 ',
    '12 ms ',
    ',"toolUseResult":',
    '","',
    '","is_error":false}]},"',
  ],
);
const texts = fc
  .tuple(fc.array(pieces, { maxLength: 60 }), fc.nat(60))
  .map(([some, times]) => some.join('').repeat(times));
const keysAfter = fc.constantFrom({ ...own }, { ...own, ...after }, { ...after, ...own });
const flags = fc.constantFrom({}, { is_error: false }, { is_error: true });

function isCut(line: string): boolean {
  const lean = leanLine(Buffer.from(line));
  return lean !== null && lean.text.length < line.length - 1_000;
}

describe('a record of which much is cut out says the same as the whole', () => {
  it('for results of all shapes', () => {
    let cuts = 0;
    const results = fc.record({ output: texts, flag: flags, more: texts, keys: keysAfter, several: fc.boolean() });
    fc.assert(
      fc.property(results, ({ output, flag, more, keys, several }) => {
        const part = { tool_use_id: 't', type: 'tool_result', content: output, ...flag };
        const content = several ? [part, { ...part, tool_use_id: 't2', content: more }] : [part];
        const message = { role: 'user', content };
        const line = JSON.stringify({ type: 'user', message, ...own, toolUseResult: { stdout: more }, ...keys });
        cuts += isCut(line) ? 1 : 0;
        expect(said(line, true)).toEqual(said(line, false));
      }),
      { numRuns: 1_000 },
    );
    expect(cuts).toBeGreaterThan(100);
  });

  it('for thoughts, with and without a call after them', () => {
    let cuts = 0;
    const thoughts = fc.record({ thinking: texts, signature: texts, words: texts, call: fc.boolean() });
    fc.assert(
      fc.property(thoughts, ({ thinking, signature, words, call }) => {
        const content = [
          { type: 'thinking', thinking, signature },
          ...(call ? [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: words } }] : []),
        ];
        const message = { model: 'm', id: 'i', type: 'message', role: 'assistant', content, stop_reason: null };
        const line = JSON.stringify({ type: 'assistant', message, ...own });
        cuts += isCut(line) ? 1 : 0;
        expect(said(line, true)).toEqual(said(line, false));
      }),
      { numRuns: 1_000 },
    );
    expect(cuts).toBeGreaterThan(100);
  });

  it('for calls whose input looks like a result or a thought', () => {
    const long = 'x '.repeat(1_500);
    const inputs = ['one', 'two'].flatMap((command) => [
      { a: 1, toolUseResult: long, command, userType: 'z' },
      { command, b: [{ type: 'thinking', thinking: long, signature: 's' }], stop_reason: 'z', c: 'd' },
    ]);
    for (const input of inputs) {
      const message = { content: [{ type: 'tool_use', id: 't', name: 'Bash', input }], stop_reason: null };
      const line = JSON.stringify({ type: 'assistant', message, ...own });
      expect(said(line, true)).toEqual(said(line, false));
    }
  });

  it('when its write broke off and another record follows on the line', () => {
    const part = { tool_use_id: 't', type: 'tool_result', content: text };
    const message = { role: 'user', content: [part] };
    const record = JSON.stringify({ ...before, message, ...own, toolUseResult: { stdout: text }, ...after });
    for (const at of [150, 1_200, 3_000, 4_500]) {
      const line = `${record.slice(0, at)}${record}`;
      expect(said(line, true)).toEqual(said(line, false));
      expect(said(line, false)).toBeNull();
    }
  });

  it('in bytes that are no text', () => {
    const bytes = Buffer.from(
      '{"type":"user","message":{"content":[{"type":"tool_result","content":"'.padEnd(4_000, '\xff'),
    );
    expect(leanLine(bytes)).toBeNull();
  });
});
