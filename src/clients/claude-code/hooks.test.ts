import { describe, expect, it } from 'vitest';
import { parseInboxFile } from './hooks.ts';

const head = 'wk1 hook 4711 1295458\n';
const body = (fields: object) => JSON.stringify({ session_id: 'b35d1a9d-9184-4500-ad95-87851d102cd8', ...fields });

describe('an event of the client', () => {
  const cases: [string, object, object][] = [
    ['UserPromptSubmit', { prompt: 'Go on [wk-3f2a]' }, { kind: 'prompt', chars: 15, tags: ['wk-3f2a'] }],
    ['SessionStart', { source: 'clear' }, { kind: 'session-start', source: 'clear' }],
    ['SessionEnd', { reason: 'other' }, { kind: 'session-end', reason: 'other' }],
    ['Stop', { last_assistant_message: 'done' }, { kind: 'turn-end' }],
    [
      'StopFailure',
      { error: 'server_error', last_assistant_message: 'API Error' },
      { kind: 'turn-failed', error: 'server_error', text: 'API Error' },
    ],
    ['PreToolUse', { tool_name: 'Bash', tool_use_id: 't1' }, { kind: 'tool-start', id: 't1', tool: 'Bash' }],
    ['PostToolUse', { tool_name: 'Bash', tool_use_id: 't1' }, { kind: 'tool-end', id: 't1', tool: 'Bash' }],
    ['PostToolUseFailure', { tool_name: 'Bash', tool_use_id: 't1' }, { kind: 'tool-end', id: 't1', tool: 'Bash' }],
    ['PermissionRequest', { tool_name: 'Write' }, { kind: 'permission', tool: 'Write' }],
    ['PreCompact', { trigger: 'manual' }, { kind: 'compact-start' }],
    ['PostCompact', { trigger: 'manual' }, { kind: 'compact-end' }],
    ['SubagentStart', { agent_id: 'a1' }, { kind: 'subagent-start', id: 'a1' }],
    ['SubagentStop', { agent_id: 'a1' }, { kind: 'subagent-end', id: 'a1' }],
    ['ConfigChange', {}, { kind: 'other' }],
  ];
  it.each(cases)('%s', (name, fields, fact) => {
    const item = parseInboxFile(head + body({ hook_event_name: name, cwd: '/p', ...fields }));
    expect(item).toMatchObject({
      kind: 'hook',
      hook: { owner: { pid: 4711, startTicks: '1295458' }, name, known: true, cwd: '/p', fact },
    });
  });

  it('one nobody knows is taken, as unknown', () => {
    const item = parseInboxFile(head + body({ hook_event_name: 'BrandNew' }));
    expect(item).toMatchObject({ hook: { known: false, fact: { kind: 'other' } } });
  });

  it('without a client above it belongs to nobody', () => {
    expect(parseInboxFile(`wk1 hook - -\n${body({ hook_event_name: 'Stop' })}`)).toMatchObject({
      hook: { owner: null },
    });
  });

  it('that is too long still says what it is, by what stands before the cut', () => {
    const long = body({
      hook_event_name: 'PostToolUse',
      tool_name: 'Bash',
      tool_input: { hook_event_name: 'Stop', session_id: '../../x' },
      tool_use_id: 't\\"1',
      tool_response: `{"tool_name":"Evil"} ${'x'.repeat(1_000)}`,
    });
    const item = parseInboxFile(head + long.slice(0, long.length - 200));
    expect(item).toMatchObject({ hook: { name: 'PostToolUse', fact: { tool: 'Bash', id: 't\\"1' } } });
  });

  const bad: [string, string][] = [
    ['nothing', ''],
    ['no head', body({ hook_event_name: 'Stop' })],
    ['another head', `wk2 hook 1 1\n${body({ hook_event_name: 'Stop' })}`],
    ['no JSON', `${head}nonsense`],
    ['a list', `${head}[1]`],
    ['no session', `${head}{"hook_event_name":"Stop"}`],
    ['a session that is a path', `${head}{"session_id":"../../etc","hook_event_name":"Stop"}`],
    ['no event', head + body({})],
    ['cut before it says anything', `${head}{"session_id":"b35d`],
  ];
  it.each(bad)('is none: %s', (_what, text) => expect(parseInboxFile(text)).toBeNull());
});

describe('a status line', () => {
  const line = (fields: object) => parseInboxFile(`wk1 statusline 4711 1\n${body(fields)}`);

  it('has the context, the cost and the limits', () => {
    const item = line({
      model: { id: 'claude-opus-5-5' },
      version: '2.1.325',
      cost: { total_cost_usd: 0.78 },
      context_window: {
        total_input_tokens: 13_629,
        context_window_size: 1_000_000,
        current_usage: { input_tokens: 7 },
      },
      rate_limits: { five_hour: { used_percentage: 93, resets_at: 1_794_741_739 }, odd: { used_percentage: 'x' } },
    });
    expect(item).toMatchObject({
      kind: 'statusline',
      line: {
        model: 'claude-opus-5-5',
        version: '2.1.325',
        costUsd: 0.78,
        used: 13_629,
        window: 1_000_000,
        limits: [{ name: 'five_hour', percent: 93, resetsAtMs: 1_794_741_739_000 }],
      },
    });
  });

  it('before the first reply measures nothing', () => {
    const item = line({
      context_window: { total_input_tokens: 0, context_window_size: 200_000, current_usage: null },
    });
    expect(item).toMatchObject({ line: { used: null, window: 200_000, costUsd: null, limits: [] } });
  });
});
