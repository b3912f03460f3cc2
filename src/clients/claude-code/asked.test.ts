import { expect, it } from 'vitest';
import { askedText } from './asked.ts';

it.each<[string, string, unknown, string | null]>([
  ['a command', 'Bash', { command: 'rm -rf build', description: 'tidy up' }, 'rm -rf build'],
  ['a new file', 'Write', { file_path: '/a/x', content: 'hello' }, '/a/x: hello'],
  ['an edit', 'Edit', { file_path: '/a/x', old_string: 'one', new_string: 'two' }, '/a/x: one → two'],
  ['an address', 'WebFetch', { url: 'https://x', prompt: 'look' }, 'https://x: look'],
  [
    'questions with their choices',
    'AskUserQuestion',
    {
      questions: [
        { question: 'Which?', options: [{ label: 'A' }, { label: 'B', description: 'b' }] },
        { question: 'Why?', options: [] },
      ],
    },
    'Which? (A / B) · Why?',
  ],
  ['a plan', 'ExitPlanMode', { plan: '1. go' }, '1. go'],
  ['a plan that is in a file', 'ExitPlanMode', {}, null],
  [
    'a tool of a server',
    'mcp__db__drop',
    { table: 'users', force: true, more: { a: [1] } },
    'table: users, force: true, more: {a: [1]}',
  ],
  ['a command that is none', 'Bash', { command: 5 }, 'command: 5'],
  ['nothing', 'Bash', {}, null],
  ['no object', 'Bash', 'rm', null],
  ['no input, as of a hook whose body was cut', 'Bash', undefined, null],
])('%s', (_name, tool, input, expected) => expect(askedText(tool, input)).toBe(expected));

it.each([
  ['a command without end', 'Bash', { command: 'x'.repeat(1e6) }],
  [
    'a tool with everything in it',
    'mcp__x__y',
    Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`k${n}`, 'y'.repeat(5_000)])),
  ],
  ['a tool that is nested without end', 'mcp__x__y', JSON.parse(`${'{"a":['.repeat(4_000)}1${']}'.repeat(4_000)}`)],
  [
    'questions without end',
    'AskUserQuestion',
    { questions: Array(1_000).fill({ question: 'q'.repeat(5_000), options: [] }) },
  ],
])('%s has an end', (_name, tool, input) => expect(String(askedText(tool, input)).length).toBeLessThanOrEqual(1_500));

it('a secret that lies where a part is cut is not shown in two halves', () => {
  const old = `${'x'.repeat(380)} postgres://app:correct-horse-battery@db`;
  const text = String(askedText('Edit', { file_path: '/a', old_string: old, new_string: 'y' }));
  expect(text).not.toContain('correct-horse');
  expect(String(askedText('mcp__x__y', { sql: old, limit: 'y' }))).not.toContain('correct-horse');
});
