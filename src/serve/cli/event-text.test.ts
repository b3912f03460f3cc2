import { expect, it } from 'vitest';
import { eventText } from './event-text.ts';

it.each<[string, string, Record<string, unknown>, string]>([
  [
    'a new agent',
    'agent',
    { pid: 7, client: 'claude-code', tmux: { session: 'a', pane: '%1' } },
    'claude-code, pid 7, tmux session a, pane %1',
  ],
  ['one outside tmux', 'agent', { pid: 7, client: 'claude-code', tmux: null }, 'claude-code, pid 7, outside tmux'],
  [
    'a first state',
    'state',
    { state: 'idle', detail: null, tool: null, from: null, confidence: 0.9 },
    'new → idle  (registry, 0.9)',
  ],
  [
    'a tool',
    'state',
    { state: 'working', detail: 'tool', tool: 'Bash', from: 'idle', confidence: 0.9 },
    'idle → working/tool Bash  (registry, 0.9)',
  ],
  ['a prompt of ours', 'prompt', { origin: 'typed', chars: 18, tags: ['wk-94a2'] }, 'typed, 18 characters, [wk-94a2]'],
  ['a prompt of one letter', 'prompt', { origin: 'typed', chars: 1, tags: [] }, 'typed, 1 character'],
  [
    'a reply',
    'reply',
    {
      model: 'opus',
      messageId: 'msg_1',
      usage: { input: 10, cacheRead: 20_000, cacheCreate: 0, output: 5 },
      ends: true,
    },
    'opus, 20k tokens in, 5 out, ends the turn',
  ],
  ['a reply without usage', 'reply', { model: 'opus', messageId: 'msg_1', usage: null, ends: false }, 'opus'],
  ['a result', 'tool-result', { id: 'toolu_1', isError: true, started: null }, 'an error'],
  [
    'a background shell',
    'tool-result',
    { id: 'toolu_1', isError: false, started: { kind: 'shell', id: 'b1', output: null } },
    'ok, started shell b1',
  ],
  ['a turn', 'turn-end', { durationMs: 831, pendingSubagents: 1 }, 'after 0.8 s, 1 subagent running'],
  [
    'a band',
    'band',
    { band: '[50,70)', from: '[30,50)', percent: 57.5, used: 115_000, window: 200_000 },
    '[30,50) → [50,70), 57% used, 115k of 200k',
  ],
  ['a retry', 'retry', { attempt: 2, attemptsMax: 10, status: 529, untilMs: 1 }, '2 of 10 (529)'],
  ['an error', 'api-error', { error: 'overloaded', status: null, text: 'Busy', resetsAtMs: null }, 'overloaded: Busy'],
  [
    'a compaction',
    'compacted',
    { trigger: 'auto', tokensBefore: 167_000, tokensAfter: 9_000 },
    'auto, from 167k to 9k',
  ],
  ['no band', 'band', { band: null, from: '[0,30)', percent: null, used: null, window: null }, '[0,30) → unknown'],
  [
    'what has no words of its own',
    'other',
    { attempt: 2, status: null, text: 'a\u001b[2J' },
    'attempt=2 text=a\\x1b[2J',
  ],
])('%s', (_name, kind, data, text) => {
  const line = eventText({ at: '2026-03-01T10:00:00Z', agent: 'shop-ps', source: 'registry', kind, data });
  expect(line.slice(line.indexOf('shop-ps'))).toBe(`shop-ps  ${kind}  ${text}`);
});
