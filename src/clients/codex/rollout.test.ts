import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judge } from '../../../test/runs/scripted-run.ts';
import { parseRolloutLine } from './rollout.ts';

const at = '2026-11-15T11:06:20.260Z';
const record = (type: string, payload: object) => ({ timestamp: at, type, payload });
const started = record('event_msg', { type: 'task_started', turn_id: 't' });
const done = (error?: object) => record('event_msg', { type: 'task_complete', turn_id: 't', ...(error && { error }) });

/** As Codex 0.166 writes a command and what it said. */
function command(id: number, cmd: string, output: string, code = 0): object[] {
  const head = `Chunk ID: c${id}6fd0\nWall time: ${id}.8666 seconds\nProcess exited with code ${code}\nOriginal token count: 1\nOutput:\n`;
  return [
    record('response_item', {
      type: 'function_call',
      name: 'exec_command',
      arguments: JSON.stringify({ cmd }),
      call_id: `call_${id}`,
    }),
    record('response_item', { type: 'function_call_output', call_id: `call_${id}`, output: head + output }),
  ];
}

function found(records: object[]): string[] {
  const events = records.flatMap((line, index) => {
    const parsed = parseRolloutLine(JSON.stringify(line), index);
    return parsed.ok ? parsed.events : [];
  });
  return judge(events).map(({ check }) => check);
}

const times = (n: number, what: (turn: number) => object[]) =>
  Array.from({ length: n }, (_, turn) => what(turn)).flat();

describe('a rollout of Codex', () => {
  it('the same command with the same output, whatever the head with times and ids says', () =>
    expect(found([started, ...times(7, (turn) => command(turn, 'ls', 'a b'))])).toContain('looping'));

  it('a command that fails is known by its exit code', () =>
    expect(found([started, ...times(9, (turn) => command(turn, `try ${turn}`, `no ${turn}`, 1))])).toContain(
      'repeated-error',
    ));

  it('a patch that is refused is no change', () => {
    const refused = (turn: number) => [
      record('response_item', {
        type: 'custom_tool_call',
        name: 'apply_patch',
        input: `patch ${turn}`,
        call_id: `p${turn}`,
      }),
      record('response_item', {
        type: 'custom_tool_call_output',
        call_id: `p${turn}`,
        output: `apply_patch verification failed: Failed to find expected lines ${turn}`,
      }),
    ];
    expect(found([started, ...times(9, refused)])).toContain('repeated-error');
  });

  it('ten questions with ten answers are no loop, also where an older version writes no more of a turn', () => {
    const answer = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'It is so.' }] };
    const turn = () => [
      record('event_msg', { type: 'user_message', message: 'why?' }),
      record('response_item', answer),
    ];
    expect(found(times(10, turn))).toEqual([]);
  });

  it('searches by the service are deeds', () => {
    const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Let me look.' }] };
    const search = () => [record('response_item', said), record('response_item', { type: 'web_search_call' })];
    expect(found([started, ...times(10, search)])).toEqual([]);
  });

  it('hard work raises nothing', () =>
    expect(found([started, ...times(9, (turn) => command(turn, `cat ${turn}`, `text ${turn}`)), done()])).toEqual([]));

  it.each([
    ['usage_limit_exceeded', 'rate-limited'],
    [{ response_too_many_failed_attempts: { http_status_code: 429 } }, 'rate-limited'],
    [{ response_stream_disconnected: { http_status_code: 500 } }, 'api-error'],
    ['context_window_exceeded', 'context-exhausted'],
  ])('a turn given up with %j is %s', (codex_error_info, check) =>
    expect(found([started, done({ message: 'x', codex_error_info })])).toEqual([check]),
  );

  it('never throws', () => {
    const anything = fc.oneof(fc.string(), fc.jsonValue());
    const payload = fc.record(
      {
        type: fc.constantFrom('task_complete', 'function_call', 'function_call_output', 'message', 'reasoning', 'x'),
        call_id: anything,
        name: anything,
        arguments: anything,
        output: anything,
        content: anything,
        error: anything,
        role: fc.constantFrom('assistant', 'user'),
      },
      { requiredKeys: ['type'] },
    );
    const line = fc.record({
      timestamp: anything,
      type: fc.constantFrom('event_msg', 'response_item', 'compacted'),
      payload: fc.oneof(payload, anything),
    });
    fc.assert(fc.property(fc.array(line), (records) => void found(records)));
  });
});
