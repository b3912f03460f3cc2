import { describe, expect, it } from 'vitest';
import { parseTranscriptLine } from './transcript.ts';

const base = { uuid: 'u', timestamp: '2026-01-02T03:04:05.000Z', isSidechain: false };

function facts(record: object) {
  const parsed = parseTranscriptLine(JSON.stringify({ ...base, ...record }), 'f:1');
  return parsed.ok ? parsed.events.map(({ fact }) => fact) : null;
}

const user = (content: string) => facts({ type: 'user', message: { role: 'user', content } });
const note = (content: string) => facts({ type: 'system', subtype: 'informational', content });

describe('commands in the record', () => {
  it("one of the user's own begins a turn", () => {
    const text =
      '<command-message>tina:checkpoint</command-message>\n<command-name>/tina:checkpoint</command-name>\n<command-args>abc</command-args>';
    expect(user(text)).toMatchObject([{ kind: 'prompt', origin: 'typed', command: 'tina:checkpoint' }]);
  });
  it("one of the client's own does not", () => {
    const text = '<command-name>/clear</command-name>\n<command-message>clear</command-message>';
    expect(user(text)).toEqual([{ kind: 'command', name: 'clear' }]);
  });
  it('a prompt that speaks of one is none', () => {
    const [fact] = user('look at <command-message>x</command-message><command-name>/x</command-name>') ?? [];
    expect(fact).toMatchObject({ kind: 'prompt' });
    expect(fact).not.toHaveProperty('command');
  });
  it.each([
    ['Unknown command: /tina:nothing', 'tina:nothing'],
    ['Unknown command: /tina:checkpoin. Did you mean /tina:checkpoint?', 'tina:checkpoin'],
  ])('%s', (text, name) => expect(note(text)).toEqual([{ kind: 'unknown-command', name }]));
  it('other notes say nothing', () => expect(note('Auto mode lets Claude handle permission prompts')).toEqual([]));
});
