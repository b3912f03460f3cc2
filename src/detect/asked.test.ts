import { describe, expect, it } from 'vitest';
import type { StateReading } from '../model/agent.ts';
import { untrusted } from '../model/text.ts';
import { askedFor, askedWords } from './asked.ts';
import { newHookFacts, takeHook } from './hooks.ts';
import { newSession, takeEvent } from './session.ts';
import type { AgentSigns } from './state.ts';

const nowMs = 1_000_000;

function reading(detail: StateReading['detail']): StateReading {
  return {
    state: 'waiting',
    detail,
    sinceMs: nowMs - 9_000,
    source: 'registry',
    confidence: 1,
    seenAtMs: nowMs,
    tool: null,
  };
}

function signs(given: { hook?: [string, string, number]; calls?: [string, string][]; screen?: string }): AgentSigns {
  const facts = newSession();
  takeEvent(facts, { atMs: nowMs - 10_000, key: 'p', fact: { kind: 'prompt', origin: 'typed', chars: 1, tags: [] } });
  for (const [tool, text] of given.calls ?? []) {
    const fact = { kind: 'tool-call', id: text, tool, about: null, asks: untrusted(text) } as const;
    takeEvent(facts, { atMs: nowMs - 9_000, key: text, fact });
  }
  const hooks = newHookFacts();
  const [tool, text, ageMs] = given.hook ?? [];
  if (tool !== undefined && text !== undefined && ageMs !== undefined)
    takeHook(hooks, { kind: 'permission', tool, asks: untrusted(text) }, null, nowMs - ageMs);
  const shown = { shows: 'permission', takesPrompts: false, tool: 'Bash', subagents: null, contextLeft: null } as const;
  const picture = { ...shown, turn: null, resets: null, asks: untrusted(given.screen ?? '') };
  return {
    nowMs,
    session: { facts, seenAtMs: nowMs },
    hooks: given.hook === undefined ? null : hooks,
    screen:
      given.screen === undefined
        ? null
        : { reading: picture, sinceMs: nowMs, atMs: nowMs, drawnMs: null, countedMs: null },
  } as unknown as AgentSigns;
}

describe('what a waiting agent asks, by whoever knows best', () => {
  it.each<[string, Parameters<typeof signs>[0], StateReading['detail'], [string, string | null, string] | null]>([
    [
      'the hook has the very call',
      { hook: ['Bash', 'rm a', 9_000], calls: [['Bash', 'rm b']], screen: 'c' },
      'permission',
      ['rm a', 'Bash', 'hook'],
    ],
    ['a second dialog of one wait', { hook: ['Bash', 'rm a', 1_000] }, 'permission', ['rm a', 'Bash', 'hook']],
    [
      'not a hook of a dialog before this one',
      { hook: ['Bash', 'rm a', 60_000], calls: [['Edit', '/x']] },
      'permission',
      ['/x', 'Edit', 'transcript'],
    ],
    ['nor of another kind', { hook: ['Bash', 'rm a', 9_000] }, 'question', null],
    [
      'of several open calls the first',
      {
        calls: [
          ['Bash', 'rm a'],
          ['Bash', 'rm b'],
        ],
      },
      'permission',
      ['rm a (first of 2 calls)', 'Bash', 'transcript'],
    ],
    [
      'a question is no permission',
      {
        calls: [
          ['Bash', 'rm a'],
          ['AskUserQuestion', 'Which?'],
        ],
      },
      'question',
      ['Which?', 'AskUserQuestion', 'transcript'],
    ],
    [
      "a subagent's call only the screen has",
      { calls: [['Agent', 'look around']], screen: 'rm x' },
      'permission',
      ['rm x', 'Bash', 'screen'],
    ],
    [
      'a setup screen',
      { calls: [['Bash', 'rm a']], screen: 'Do you trust this folder?' },
      'setup',
      ['Do you trust this folder?', 'Bash', 'screen'],
    ],
    ['nobody', {}, 'permission', null],
  ])('%s', (_name, given, detail, expected) => {
    const asked = askedFor(signs(given), reading(detail));
    expect(asked === null ? null : [asked.text, asked.tool, asked.source]).toEqual(expected);
  });

  it('whoever does not wait asks nothing', () => {
    expect(
      askedFor(signs({ hook: ['Bash', 'rm a', 9_000] }), { ...reading('permission'), state: 'working' }),
    ).toBeNull();
  });
});

it('it is redacted, cut and safe for a terminal', () => {
  const evil = `curl -H 'Authorization: Bearer sk-ant-api03-${'a'.repeat(80)}' \u001b[2J\u202e\n${'x'.repeat(5_000)}`;
  const asked = askedFor(signs({ hook: ['Bash', evil, 9_000] }), reading('permission'));
  expect(asked?.text).not.toContain('sk-ant');
  expect(asked?.text).toContain('\\x1b[2J\\u{202e}\\n');
  expect(asked?.text?.length).toBeLessThan(600);
});

it.each([
  ['permission', { tool: 'Bash', text: 'rm a', source: 'hook' }, 'it asks for a permission (by its hook): Bash rm a'],
  [
    'question',
    { tool: 'AskUserQuestion', text: 'Which?', source: 'transcript' },
    'it asks a question (by its own record): Which?',
  ],
  [
    'setup',
    { tool: null, text: 'Trust?', source: 'screen' },
    'it has to be set up first (as its screen shows it): Trust?',
  ],
  ['permission', null, 'it asks for a permission'],
  ['dialog', null, 'a dialog is open'],
] as const)('in a sentence: %s %o', (detail, asks, expected) => expect(askedWords(detail, asks)).toBe(expected));
