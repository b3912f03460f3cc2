// Talk of errors and limits, in every field that an agent, a person or a file can fill, is no error and no limit.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { limits } from '../../../test/runs/scripted-run.ts';
import { parseTranscriptLine } from '../../clients/claude-code/transcript.ts';
import { parseRolloutLine } from '../../clients/codex/rollout.ts';
import { parseNeutralLine } from '../../clients/neutral-run.ts';
import type { RunEvent } from '../../model/run-event.ts';
import { newSession, takeEvent } from '../session.ts';
import { RunJudge } from './judge.ts';

const phrase = fc.constantFrom(
  'Error: 429 {"type":"error","error":{"type":"rate_limit_error"}}',
  'API Error: 529 Overloaded',
  'API Error (429): rate limit exceeded',
  '{"status":429,"error":"rate_limit"}',
  'You have hit your usage limit · resets 3pm',
  'Please run /login · authentication_failed',
  'invalid x-api-key: OAuth token has expired',
  'Prompt is too long',
  'Context low (0% remaining)',
  'context_window_exceeded: compacting conversation',
  'isApiErrorMessage: true',
  'Traceback (most recent call last): Exception',
  'fatal error: command failed, exit code 1',
  'Retrying in 5 s · attempt 3/10',
  'Waiting for API response',
  'The turn was given up. No sign of life.',
);
const talk = fc
  .tuple(phrase, fc.string({ maxLength: 30 }), phrase, fc.boolean())
  .map(([first, noise, second, both]) => (both ? `${first}\n${noise} ${second}` : first));

/** What is said in one step: each text is its own, for work that goes on brings something new. */
const step = fc.record({ says: talk, command: talk, description: talk, output: talk, aside: talk });
const healthyRun = fc.record({ prompt: talk, steps: fc.array(step, { minLength: 8, maxLength: 14 }), end: talk });
type Run = typeof healthyRun extends fc.Arbitrary<infer T> ? T : never;

const time = (second: number) => new Date(Date.parse('2026-11-15T12:00:00Z') + second * 1000).toISOString();
const own = (text: string, n: number) => `${text} part${String.fromCharCode(97 + n)} ${'abcdefghijklmnop'.slice(n)}`;

function transcriptOf({ prompt, steps, end }: Run): string[] {
  const base = (n: number, part: number) => ({
    uuid: `u${n}.${part}`,
    timestamp: time(n * 3 + part),
    cwd: `/p/${steps[0]?.aside}`,
    gitBranch: steps[0]?.aside,
    isSidechain: false,
  });
  const assistant = (content: unknown[], stop: string, n: number, part: number) => ({
    ...base(n, part),
    type: 'assistant',
    message: { id: `m${n}`, model: 'claude-x', role: 'assistant', stop_reason: stop, content },
  });
  const records = [
    { ...base(0, 0), type: 'user', promptSource: 'typed', message: { role: 'user', content: prompt } },
    ...steps.flatMap(({ says, command, description, output, aside }, n) => [
      assistant(
        [
          { type: 'thinking', thinking: aside },
          { type: 'text', text: says },
          { type: 'tool_use', id: `t${n}`, name: 'Bash', input: { command: own(command, n), description } },
        ],
        'tool_use',
        n + 1,
        0,
      ),
      {
        ...base(n + 1, 1),
        type: 'user',
        toolUseResult: { stdout: output, stderr: aside, error: aside },
        message: {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: `t${n}`, is_error: false, content: own(output, n) }],
        },
      },
      { ...base(n + 1, 2), type: 'system', subtype: 'informational', content: aside, level: 'error' },
      { ...base(n + 1, 2), uuid: `s${n}`, type: 'summary', summary: aside },
      { ...base(n + 1, 2), uuid: `a${n}`, type: 'attachment', attachment: { type: 'hook_output', content: aside } },
    ]),
    assistant([{ type: 'text', text: end }], 'end_turn', steps.length + 1, 0),
    { ...base(steps.length + 1, 1), type: 'system', subtype: 'turn_duration', durationMs: 5 },
  ];
  return records.map((record) => JSON.stringify(record));
}

function neutralOf({ prompt, steps, end }: Run): string[] {
  const records = [
    { kind: 'user', text: prompt },
    ...steps.flatMap(({ says, command, output, aside }, n) => [
      { kind: 'assistant', text: says, extra: { note: aside } },
      { kind: 'tool_call', call_id: `t${n}`, tool: 'Bash', target: own(command, n), args_hash: `h${n}`, text: aside },
      { kind: 'tool_result', call_id: `t${n}`, is_error: false, text: own(output, n), out_hash: `o${n}` },
      { kind: 'system', sub: 'informational', text: aside },
      { kind: 'aux', sub: 'hook', text: aside },
    ]),
    { kind: 'assistant', text: end, stop: 'end_turn' },
    { kind: 'end' },
  ];
  return records.map((record, i) => JSON.stringify({ i, src_index: i, ts: 1_000 + i, ...record }));
}

function rolloutOf({ prompt, steps, end }: Run): string[] {
  const item = (payload: object) => ({ type: 'response_item', payload });
  const message = (role: string, text: string) => item({ type: 'message', role, content: [{ type: 'text', text }] });
  const records = [
    { type: 'event_msg', payload: { type: 'task_started' } },
    message('user', prompt),
    ...steps.flatMap(({ says, command, output, aside }, n) => [
      item({ type: 'reasoning', summary: [{ text: aside }] }),
      message('assistant', says),
      item({
        type: 'function_call',
        call_id: `t${n}`,
        name: 'exec_command',
        arguments: JSON.stringify({ cmd: own(command, n) }),
      }),
      item({ type: 'function_call_output', call_id: `t${n}`, output: own(output, n) }),
      { type: 'event_msg', payload: { type: 'agent_message', message: aside, error: aside } },
    ]),
    message('assistant', end),
    { type: 'event_msg', payload: { type: 'task_complete', last_agent_message: end } },
  ];
  return records.map((record, n) => JSON.stringify({ timestamp: time(n), ...record }));
}

const formats: [string, (run: Run) => string[], (line: string, index: number) => RunEvent[]][] = [
  [
    'a transcript of Claude Code',
    transcriptOf,
    (line, index) => {
      const parsed = parseTranscriptLine(line, String(index));
      return parsed.ok ? parsed.events.map((event) => ({ ...event, index, side: parsed.sidechain })) : [];
    },
  ],
  [
    'a neutral event file',
    neutralOf,
    (line) => {
      const parsed = parseNeutralLine(line);
      return parsed.ok ? parsed.events : [];
    },
  ],
  [
    'a rollout of Codex',
    rolloutOf,
    (line, index) => {
      const parsed = parseRolloutLine(line, index);
      return parsed.ok ? parsed.events : [];
    },
  ],
];

test.each(formats)('%s that talks of errors and limits raises nothing', (_, write, read) => {
  fc.assert(
    fc.property(healthyRun, (run) => {
      const told: string[] = [];
      const judge = new RunJudge(limits, ({ finding }) => told.push(`${finding.check}: ${finding.text}`));
      const facts = newSession();
      write(run).forEach((line, index) => {
        for (const event of read(line, index)) {
          judge.take(event);
          takeEvent(facts, event);
        }
      });
      expect(told).toEqual([]);
      expect(judge.steps).toBe(run.steps.length);
      expect(facts).toMatchObject({ error: null, errorKind: null, limitResetsAtMs: null, lastTurn: 'ok' });
    }),
    { numRuns: 150 },
  );
});
