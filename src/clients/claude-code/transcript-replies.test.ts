import { describe, expect, it } from 'vitest';
import { parseTranscriptLine } from './transcript.ts';

const signal = '<promise>COMPLETE</promise>';

/** What is kept of a reply that says these things, one after the other. */
function kept(...texts: string[]): string {
  const content = texts.map((text) => ({ type: 'text', text }));
  const record = { type: 'assistant', uuid: 'u', timestamp: '2026-11-15T17:49:34.576Z' };
  const parsed = parseTranscriptLine(JSON.stringify({ ...record, message: { model: 'm', content } }), '0');
  const replies = parsed.ok ? parsed.events.map(({ fact }) => fact).filter((fact) => fact.kind === 'reply') : [];
  return replies.map(({ text }) => text).join('|');
}

describe('the words of a reply', () => {
  it('are kept as they are', () => expect(kept('All tests pass.', signal)).toBe(`All tests pass.\n${signal}`));

  it.each([
    ['one text', [`First this. ${'x'.repeat(100_000)} ${signal}`]],
    ['several', ['First this. ', 'x'.repeat(100_000), signal]],
    ['just too long', [`First this. ${'x'.repeat(12_000)}${signal}`]],
  ])('in a very long one, of %s, are kept from its beginning and from its end, where "done" is said', (_, texts) => {
    const text = kept(...texts);
    expect([text.startsWith('First this.'), text.endsWith(signal)]).toEqual([true, true]);
    expect(text.length).toBeLessThan(14_000);
  });
});
