import { describe, expect, it } from 'vitest';
import { newHandoffSigns } from '../../detect/handoff-signs.ts';
import type { HandoffAction } from '../../model/handoff.ts';
import { withTraces } from './traces.ts';

const t0 = 1_000_000;

function typed(deed: HandoffAction['deed'], text: string, outcome: string | null = null): HandoffAction {
  const outcomes = outcome === null ? [] : [{ outcome, reason: null }];
  return { id: deed, deed, after: 1, why: null, atMs: t0, outcomes, typed: text };
}

const prompted = (command: string, atMs = t0 + 500) => ({ prompts: [{ atMs, tags: [], command }] });
const unknown = (command: string) => ({ unknown: [{ atMs: t0 + 500, command }] });

describe('what became of a command is read from the record of its session', () => {
  it.each<[string, HandoffAction, object, object, string | null]>([
    ['it is there', typed('ask', '/tina:checkpoint'), prompted('tina:checkpoint'), {}, 'confirmed'],
    ['with what it is given', typed('ask', '/x:save now'), prompted('x:save'), {}, 'confirmed'],
    ['nobody knew, and it is there', typed('ask', '/x', 'uncertain'), prompted('x'), {}, 'confirmed'],
    ['the client does not know it', typed('ask', '/x', 'uncertain'), unknown('x'), {}, 'refused'],
    ['another command', typed('ask', '/x'), prompted('y'), {}, null],
    ['an earlier one', typed('ask', '/x'), prompted('x', t0 - 1), {}, null],
    ['one of much later', typed('ask', '/x'), prompted('x', t0 + 600_000), {}, null],
    ['resumed in the fresh session', typed('resume', '/x'), {}, prompted('x'), 'confirmed'],
    ['not in the old one', typed('resume', '/x'), prompted('x'), {}, null],
    ['a clear is proved by the session alone', typed('clear', '/clear'), prompted('clear'), {}, null],
    [
      'a prompt by its tag',
      typed('ask', 'write [wk-12ab]'),
      { prompts: [{ atMs: t0, tags: ['wk-12ab'], command: null }] },
      {},
      'confirmed',
    ],
  ])('%s', (_name, action, old, fresh, expected) => {
    const signs = { old: { ...newHandoffSigns(), ...old }, fresh: { ...newHandoffSigns(), ...fresh } };
    const [seen] = withTraces([action], signs);
    expect(seen?.outcomes.at(-1)?.outcome ?? null).toBe(expected);
  });
});
