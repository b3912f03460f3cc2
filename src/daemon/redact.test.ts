import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { forget, withoutForgotten } from '../model/forgotten.ts';
import { fail, ok } from '../model/result.ts';
import type { Store } from '../model/store.ts';
import { checkName, detail, source, state } from '../record/rows.ts';
import { templateNames } from './acting.ts';
import { forgetful, whyNoSecret } from './redact.ts';
import type { Doors } from './requests/doors.ts';
import { forget as forgetRequest } from './requests/forget.ts';

it.each([
  ['nothing', '', /nothing came/],
  ['five characters', '12345', /shorter than 6/],
  ['five of two halves each', '🎉🎉🎉🎉🎉', /shorter than 6/],
  ['blanks', ' \n      ', /nothing but blanks/],
  ['a NUL within', 'abc\u0000defghi', /NUL/],
  ['half a character', 'abcdefg\ud800', /UTF-8/],
])('%s is no secret that could be taken out', (_name, secret, why) => expect(whyNoSecret(secret)).toMatch(why));

it.each(['123456', 'a b c d', 'пароль', '-----BEGIN\nx'])('%s is one', (secret) =>
  expect(whyNoSecret(secret)).toBe(null),
);

const migration = readFileSync(new URL('../record/migrations/0007_redact.sql', import.meta.url), 'utf8');
const ownWords = (/own_words constant text\[\] := '\{([^}]*)\}'/.exec(migration)?.[1] ?? '')
  .split(/,\s*/)
  .map((word) => word.trim());

it.each([
  ['check', checkName.options],
  ['state', state.options],
  ['detail', detail.options],
  ['source', source.options],
  ['template', templateNames],
])('every %s is among the words that are not taken out', (_name, words) => {
  // What is part of another one is refused with it, and so is what is too short.
  const isRefused = (word: string) => word.length < 6 || ownWords.some((own) => own.includes(word));
  expect(words.filter((word) => !isRefused(word))).toEqual([]);
});

describe('what a daemon stores after it was told to forget', () => {
  const stored: unknown[][] = [];
  const note = async (...given: unknown[]) => void stored.push(given);
  const calls = ['saveAuthority', 'saveIncident', 'intend', 'deedsAbout', 'write', 'beginHandoff', 'takeHandoffStep'];
  const store = forgetful(Object.fromEntries(calls.map((call) => [call, note])) as unknown as Store);
  const seen = (call: string, ...given: unknown[]) => {
    stored.length = 0;
    (Reflect.get(store, call) as typeof note)(...given);
    return stored[0];
  };
  beforeAll(() => forget(['acmecorp']));

  it.each([
    ['saveAuthority', ['acmecorp-host', 'acmecorp-ps', 'observe']],
    ['deedsAbout', [['acmecorp']]],
    [
      'saveIncident',
      ['h', { id: 'acmecorp', agent: 'acmecorp-ps', project: 'acmecorp', check: 'acmecorp', subject: 'acmecorp' }],
    ],
    [
      'intend',
      [
        'h',
        {
          kind: 'acmecorp',
          trigger: 'acmecorp',
          finding: 'acmecorp',
          intent: { tag: 'acmecorp', findings: ['acmecorp'] },
        },
      ],
    ],
    ['beginHandoff', ['h', { nonce: 'acmecorp', oldSession: 'acmecorp', steps: [{ step: 'acmecorp' }] }]],
    ['takeHandoffStep', ['acmecorp', 'acmecorp', { step: 'acmecorp' }, { newSession: 'acmecorp' }]],
    [
      'write',
      ['h', { agents: [{ agent: 'acmecorp-ps', reading: { state: 'acmecorp' }, tmux: { session: 'acmecorp' } }] }],
    ],
  ])('has the same names, kinds and ids: %s', (call, given) => expect(seen(call, ...given)).toEqual(given));

  it('has none of it in its texts', () => {
    expect(seen('saveIncident', 'h', { check: 'looping', text: 'at acmecorp' })).toEqual([
      'h',
      { check: 'looping', text: 'at [redacted]' },
    ]);
    const intent = { text: 'to acmecorp', status: 'acmecorp', more: [{ type: 'x acmecorp' }] };
    expect(seen('intend', 'h', { kind: 'prompt', intent })).toEqual([
      'h',
      { kind: 'prompt', intent: { text: 'to [redacted]', status: '[redacted]', more: [{ type: 'x [redacted]' }] } },
    ]);
    const batch = {
      agents: [{ agent: 'acmecorp-ps', error: 'no acmecorp', cwd: '/x/acmecorp' }],
      spawns: [{ taskId: 'acmecorp', description: 'acmecorp', reason: 'acmecorp' }],
      events: [{ kind: 'hook', data: { kind: 'prompt', text: 'acmecorp', host: 'acmecorp' } }],
    };
    expect(seen('write', 'h', batch)?.[1]).toEqual({
      agents: [{ agent: 'acmecorp-ps', error: 'no [redacted]', cwd: '/x/[redacted]' }],
      spawns: [{ taskId: 'acmecorp', description: '[redacted]', reason: '[redacted]' }],
      events: [{ kind: 'hook', data: { kind: 'prompt', text: '[redacted]', host: '[redacted]' } }],
    });
  });
});

describe('a daemon that is told to forget', () => {
  const rule = async (forms: readonly string[]) => {
    if (forms.includes('nobody knows')) return fail('unavailable', 'the database is away');
    return ok(forms.includes('critical') ? 'it is a word' : null);
  };
  const journal = { flush: async () => true };
  const doors = { whyKept: rule, journal } as unknown as Doors;
  const told = (forms: string[]) => forgetRequest.answer({ forms }, doors, 'human me');

  it.each([
    ['keeps what may not be taken out, with all that came with it', ['hunter2hunter2', 'critical'], 'it is a word'],
    ['keeps what nobody can say that of', ['nobody knows'], 'the database is away'],
  ])('%s', async (_name, forms, error) => {
    expect(await told(forms)).toMatchObject({ ok: false, message: error });
    expect(withoutForgotten({ text: forms.join() })).toEqual({ text: forms.join() });
  });

  it('forgets the rest', async () => {
    expect(await told(['open sesame'])).toEqual({ ok: true, value: { ok: true } });
    expect(withoutForgotten({ text: 'an open sesame' })).toEqual({ text: 'an [redacted]' });
  });
});
