import { expect, it } from 'vitest';
import { leanLine } from './lean-line.ts';

const text = `const a = "b"; {"uuid":"x"} ,"toolUseResult": → ${'x'.repeat(3_000)}`;
const before = {
  parentUuid: 'p',
  isSidechain: false,
  type: 'user',
  message: { role: 'user', content: [{ tool_use_id: 't', type: 'tool_result', content: text }] },
};
const own = { uuid: 'u', timestamp: '2026-03-01T10:00:00.000Z' };
const after = { userType: 'external', cwd: '/p', sessionId: 's', version: '2.1.325', gitBranch: 'main' };

/** What is left of a record; null: it is read whole. */
function left(record: object | string): unknown {
  const line = Buffer.from(typeof record === 'string' ? record : JSON.stringify(record));
  const copy = ownCopy(line);
  if (copy === null) return null;
  try {
    return JSON.parse(`${line.toString('utf8', 0, copy.from)}${line.toString('utf8', copy.to)}`);
  } catch {
    return null;
  }
}

it.each([
  ['of the present version', { ...before, ...own, toolUseResult: { stdout: text, stderr: '' }, ...after }],
  ['of an older one', { ...before, ...after, toolUseResult: { file: { content: text, numLines: 9 } }, ...own }],
  ['that is a text', { ...before, ...own, toolUseResult: `Error: ${text}`, ...after }],
])('a record without the copy %s says all the rest', (_name, record) => {
  const { toolUseResult: _copy, ...rest } = record;
  expect(left(record)).toEqual(rest);
});

it.each([
  ['work left running in a shell', { stdout: text, backgroundTaskId: 'b1' }],
  ['a subagent left running', { status: 'async_launched', agentId: 'a1', prompt: text }],
])('%s is read', (_name, toolUseResult) => {
  expect(left({ ...before, ...own, toolUseResult, ...after })).toBeNull();
});

it('a record that broke off, with the next one behind it, is read whole', () => {
  const record = JSON.stringify({ ...before, ...own, toolUseResult: { stdout: text }, ...after });
  expect(left(`${record.slice(0, -2_500)}${record}`)).toBeNull();
});

it('a key of that name inside of something else is not cut out', () => {
  const content = [{ type: 'tool_use', id: 't', name: 'x', input: { a: 1, toolUseResult: text, b: 2 } }];
  expect(left({ ...before, message: { content }, ...own, ...after })).toBeNull();
  const nested = { ...before, message: { content, toolUseResult: { b: text }, c: 1 }, ...after, ...own };
  expect(left(nested)).toBeNull();
});
