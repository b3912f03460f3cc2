import { describe, expect, it } from 'vitest';
import type { SessionFact } from '../../model/session-event.ts';
import { parseTranscriptLine } from './transcript.ts';

const at = '2026-11-15T17:49:34.576Z';

function facts(record: object): SessionFact[] {
  const parsed = parseTranscriptLine(JSON.stringify({ uuid: 'u', timestamp: at, ...record }), '0');
  return parsed.ok ? parsed.events.map(({ fact }) => fact) : [];
}

function result(content: unknown, toolUseResult: object): SessionFact[] {
  const part = { tool_use_id: 'toolu_1', type: 'tool_result', content, is_error: false };
  return facts({ type: 'user', message: { role: 'user', content: [part] }, toolUseResult });
}

function call(name: string, input: unknown): SessionFact | undefined {
  const content = [{ type: 'tool_use', id: 'toolu_1', name, input }];
  return facts({ type: 'assistant', message: { model: 'm', content } }).find(({ kind }) => kind === 'tool-call');
}

const tasks = '/tmp/claude-0/-srv-lab/f24805e2/tasks';
const words = (file: string) =>
  `Command running in background with ID: bkyo8jyp6. Output is being written to: ${file}. You will be notified when it completes — do not poll that file.`;

describe('background work in the record of 2.1.325', () => {
  it('a shell, and where it writes', () =>
    expect(result(words(`${tasks}/bkyo8jyp6.output`), { backgroundTaskId: 'bkyo8jyp6' })).toMatchObject([
      { started: { kind: 'shell', id: 'bkyo8jyp6', output: `${tasks}/bkyo8jyp6.output` } },
    ]));

  it.each([
    ['of another task', words(`${tasks}/other.output`)],
    ['relative', words('tasks/bkyo8jyp6.output')],
    ['in other words', `see ${tasks}/bkyo8jyp6.output.`],
    ['none', ''],
  ])('a shell whose file is %s has no file', (_what, text) =>
    expect(result(text, { backgroundTaskId: 'bkyo8jyp6' })).toMatchObject([
      { started: { id: 'bkyo8jyp6', output: null } },
    ]),
  );

  it('a subagent', () =>
    expect(
      result([{ type: 'text', text: 'Async agent launched successfully.' }], {
        isAsync: true,
        status: 'async_launched',
        agentId: 'afda0dbd47c8030a9',
        outputFile: `${tasks}/afda0dbd47c8030a9.output`,
      }),
    ).toMatchObject([{ started: { kind: 'subagent', id: 'afda0dbd47c8030a9' } }]));

  it('its end, with the words for it', () => {
    const note = (status: string) =>
      `<task-notification>\n<task-id>bkyo8jyp6</task-id>\n<status>${status}</status>\n<summary>Background command "fails soon" failed with exit code 3</summary>\n</task-notification>`;
    expect(facts({ type: 'queue-operation', operation: 'enqueue', content: note('failed') })).toEqual([
      {
        kind: 'background-ended',
        id: 'bkyo8jyp6',
        status: 'failed',
        text: 'Background command "fails soon" failed with exit code 3',
      },
    ]);
  });

  it('what a call says of the work', () => {
    expect(call('Bash', { command: 'CI=1 /usr/bin/npm test', description: 'run the tests' })).toMatchObject({
      about: { description: 'run the tests', label: 'npm' },
    });
    expect(call('Bash', { command: 'make' })).toMatchObject({ about: { description: 'make', label: 'make' } });
    expect(call('Agent', { description: 'look', subagent_type: 'Explore' })).toMatchObject({
      about: { description: 'look', label: 'Explore' },
    });
    expect(call('Read', { file_path: '/x' })).toMatchObject({ about: null });
    expect(call('Bash', 'not an object')).toMatchObject({ about: null });
    expect(call('constructor', {})).toMatchObject({ about: null });
  });
});
