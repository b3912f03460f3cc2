import { describe, expect, it } from 'vitest';
import type { SessionFact } from '../model/session-event.ts';
import { untrusted } from '../model/text.ts';
import { newSession, takeEvent } from './session.ts';

type Prompt = Extract<SessionFact, { kind: 'prompt' }>;
const prompt = (tags: string[] = [], origin: Prompt['origin'] = 'typed'): SessionFact => ({
  kind: 'prompt',
  origin,
  chars: 10,
  tags,
});
const failed: SessionFact = {
  kind: 'api-error',
  error: 'overloaded',
  status: 529,
  text: untrusted('529'),
  resetsAtMs: null,
};
const limited: SessionFact = {
  kind: 'api-error',
  error: 'rate_limit',
  status: 429,
  text: untrusted('limit'),
  resetsAtMs: 99,
};
const done: SessionFact = {
  kind: 'reply',
  model: 'm',
  messageId: 'i',
  usage: null,
  ends: true,
  text: untrusted('Done.'),
};
const interrupted: SessionFact = { kind: 'interrupted' };

function after(...told: SessionFact[]) {
  const facts = newSession();
  for (const [atMs, fact] of told.entries()) takeEvent(facts, { atMs, key: `${atMs}`, fact });
  return facts;
}
const stops = (...told: SessionFact[]) => after(...told).stopped !== null;

describe('work that was given up after an error stands still until it is taken up again', () => {
  const cases: [string, SessionFact[], boolean][] = [
    ['after the error', [], true],
    ['while it is told to go on', [prompt(['wk-12ab'])], true],
    ['when that turn has ended well: no more', [prompt(['wk-12ab']), done], false],
    ['when that turn failed too', [prompt(['wk-12ab']), failed], true],
    ['when it has answered a note beside the work: still', [prompt(['wk-n2ab']), done], true],
    ['and a second one', [prompt(['wk-n2ab']), done, prompt(['wk-n3ab']), done], true],
    ['when it is told to go on after the note: no more', [prompt(['wk-n2ab']), done, prompt(['wk-12ab']), done], false],
    ['when a note and the word to go on came as one message: no more', [prompt(['wk-n2ab', 'wk-12ab']), done], false],
    ['when a person wrote: no more', [prompt(), done], false],
    ['when its client went on by itself: no more', [prompt([], 'client'), done], false],
    ['when a person joined the turn of a note: no more', [prompt(['wk-n2ab']), prompt([], 'mid-turn'), done], false],
    ['when a person interrupted it: no more, it is theirs', [prompt(['wk-n2ab']), interrupted], false],
  ];
  it.each(cases)('%s', (_name, told, expected) => expect(stops(prompt(), failed, ...told)).toBe(expected));
  it('an agent that answered a note and was never stopped does not', () =>
    expect(stops(prompt(), done, prompt(['wk-n2ab']), done)).toBe(false));
  it('knows what gave it up, also after the note', () =>
    expect(after(prompt(), failed, prompt(['wk-n2ab']), done).stopped).toEqual({
      sinceMs: 1,
      error: '529',
      errorKind: 'overloaded',
    }));
});

it('a limit is over when a turn has ended well after it, also without a new prompt', () => {
  expect(after(prompt(), limited).limitResetsAtMs).toBe(99);
  expect(after(prompt(), limited, done).limitResetsAtMs).toBeNull();
});
