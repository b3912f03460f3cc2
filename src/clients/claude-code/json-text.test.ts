import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../model/event.ts';
import { add, nodeAt, readJson, remove, replace } from './json-text.ts';

describe('what is no JSON is named by its line', () => {
  it.each([
    ['a missing comma', '{\n  "a": 1\n  "b": 2\n}', 3, 'comma'],
    ['a missing colon', '{"a" 1}', 1, 'colon'],
    ['an open bracket', '{\n  "a": [1, 2\n', 2, 'bracket'],
    ['an open text', '{"a": "b}', 1, 'text'],
    ['a line break in a text', '{"a": "b\nc"}', 1, 'text'],
    ['an open comment', '{} /* why', 1, 'comment'],
    ['a word', '{"a": yes}', 1, 'value'],
    ['a number with a leading zero', '{"a": 012}', 1, 'value'],
    ['a bare key', '{a: 1}', 1, 'key'],
    ['two values', '{}\n{}', 2, 'after the end'],
    ['a comma alone', '{"a": [,]}', 1, 'value'],
    ['endless nesting', '['.repeat(100_000), 1, 'deeper'],
  ])('%s', (_what, text, line, word) => {
    const read = readJson(text);
    expect(read).toMatchObject({ ok: false, line });
    expect(read.ok ? '' : read.what).toContain(word);
  });
});

describe('what strict JSON forbids is read and told', () => {
  it.each([
    ['{"a": 1}', null],
    ['\ufeff{"a": 1}\r\n', null],
    ['// why\n{"a": 1}', 'comments'],
    ['{"a": /* why */ 1}', 'comments'],
    ['{"a": 1} // at the end', 'comments'],
    ['{"a": 1,}', 'trailing commas'],
    ['{"a": [1, 2,],}', 'trailing commas'],
    ['{"a": "// no comment", "b": "/* none */"}', null],
  ])('%s', (text, lenient) => expect(readJson(text)).toMatchObject({ ok: true, lenient }));

  it('of a key that stands twice the last counts', () => {
    const read = readJson('{"a": 1, "a": 2}');
    expect(read.ok && nodeAt(read.root, ['a'])?.value).toBe(2);
  });
});

interface Case {
  what: string;
  before: string;
  after: string;
  key?: string | null;
  at?: (string | number)[];
}

describe('adding keeps the way the text is written', () => {
  it.each<Case>([
    { what: 'two blanks', before: '{\n  "a": 1\n}\n', after: '{\n  "a": 1,\n  "k": { "v": 1 }\n}\n' },
    { what: 'four blanks', before: '{\n    "a": 1\n}', after: '{\n    "a": 1,\n    "k": { "v": 1 }\n}' },
    { what: 'tabs', before: '{\n\t"a": 1\n}', after: '{\n\t"a": 1,\n\t"k": { "v": 1 }\n}' },
    { what: 'CRLF', before: '{\r\n  "a": 1\r\n}\r\n', after: '{\r\n  "a": 1,\r\n  "k": { "v": 1 }\r\n}\r\n' },
    { what: 'minified', before: '{"a":1}', after: '{"a":1,"k":{"v":1}}' },
    { what: 'one line with blanks', before: '{ "a": 1 }', after: '{ "a": 1, "k": { "v": 1 } }' },
    { what: 'empty', before: '{}', after: '{\n  "k": { "v": 1 }\n}' },
    { what: 'empty over two lines', before: '{\n}\n', after: '{\n  "k": { "v": 1 }\n}\n' },
    { what: 'an empty object in a minified text', before: '{"a":{}}', after: '{"a":{"k":{"v":1}}}', at: ['a'] },
    {
      what: 'an empty object further in',
      before: '{\n\t"a": {}\n}',
      after: '{\n\t"a": {\n\t\t"k": { "v": 1 }\n\t}\n}',
      at: ['a'],
    },
    { what: 'a trailing comma', before: '{\n  "a": 1,\n}', after: '{\n  "a": 1,\n  "k": { "v": 1 },\n}' },
    {
      what: 'a comment behind the last',
      before: '{\n  "a": 1 // why\n}',
      after: '{\n  "a": 1, // why\n  "k": { "v": 1 }\n}',
    },
    {
      what: 'a comment behind the last of one line',
      before: '{ "a": 1 // why\n}',
      after: '{ "a": 1, // why\n  "k": { "v": 1 }\n}',
    },
    {
      what: 'something commented out at the end',
      before: '{\n  "a": 1\n  // "b": 2\n}',
      after: '{\n  "a": 1,\n  // "b": 2\n  "k": { "v": 1 }\n}',
    },
    { what: 'only a comment', before: '{\n  // none\n}', after: '{\n  // none\n  "k": { "v": 1 }\n}' },
    {
      what: 'a list',
      before: '{\n  "a": [\n    1\n  ]\n}',
      after: '{\n  "a": [\n    1,\n    { "v": 1 }\n  ]\n}',
      at: ['a'],
      key: null,
    },
    {
      what: 'a list on one line',
      before: '{\n  "a": [1]\n}',
      after: '{\n  "a": [1, { "v": 1 }]\n}',
      at: ['a'],
      key: null,
    },
  ])('$what', ({ before, after, at = [], key = 'k' }) => {
    expect(add(before, at, key, { v: 1 })).toBe(after);
    // And the way back is the same.
    const place = key === null ? 1 : key;
    const back = remove(after, [...at, place]);
    if (!/^\{\s*\}\s*$/.test(before) && before !== '{\n\t"a": {}\n}') expect(back).toBe(before);
  });
});

describe('taking out leaves the rest as it is', () => {
  it.each<[string, string, (string | number)[], string]>([
    ['the first', '{ "a": 1, "b": 2 }', ['a'], '{ "b": 2 }'],
    ['one in the middle', '{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}', ['b'], '{\n  "a": 1,\n  "c": 3\n}'],
    ['the last', '[1, 2]', [1], '[1]'],
    ['the only one', '{\n  "a": {\n    "b": 1\n  }\n}', ['a', 'b'], '{\n  "a": {}\n}'],
    ['the last before a trailing comma', '{\n  "a": 1,\n  "b": 2,\n}', ['b'], '{\n  "a": 1,\n}'],
    ['the only one beside a comment', '{\n  // why\n  "a": 1\n}', ['a'], '{\n  // why\n}'],
    [
      'one behind a comment, with another after it',
      '{\n  // why\n  "a": 1, "b": 2\n}',
      ['a'],
      '{\n  // why\n   "b": 2\n}',
    ],
    ['the last of two equal keys', '{"a":1,"a":2}', ['a'], '{"a":1}'],
    ['nothing that is not there', '{"a":1}', ['b'], '{"a":1}'],
  ])('%s', (_what, before, path, after) => expect(remove(before, path)).toBe(after));
});

it('replaces a value where it stands', () => {
  expect(replace('{ "a": {"b" : "x"}, "c": 1 }', ['a', 'b'], 'y')).toBe('{ "a": {"b" : "y"}, "c": 1 }');
});

it('any JSON in any indentation: what is added is there, what is taken out again leaves what was', () => {
  const indents = fc.constantFrom('', ' ', '  ', '    ', '\t');
  const object = fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue({ maxDepth: 4 }), { maxKeys: 6 });
  fc.assert(
    fc.property(object, indents, fc.boolean(), (value, indent, windows) => {
      const plain = JSON.stringify(value, null, indent);
      const text = windows ? plain.replaceAll('\n', '\r\n') : plain;
      const key = 'watchkeeper key';
      const added = add(text, [], key, { v: ['x'] } as Json);
      expect(JSON.parse(added)).toEqual({ ...JSON.parse(text), [key]: { v: ['x'] } });
      expect(remove(added, [key])).toBe(text);
    }),
    { numRuns: 500 },
  );
});
