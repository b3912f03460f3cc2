import { describe, expect, it } from 'vitest';
import { agentView as view, viewNowMs } from '../../../test/runs/agent-view.ts';
import { looked } from '../../../test/runs/looked.ts';
import type { AgentView } from '../../model/agent.ts';
import type { SessionFact } from '../../model/session-event.ts';
import { untrusted } from '../../model/text.ts';
import { TurnWords } from '../turn-words.ts';
import { completionMissing } from './completion-missing.ts';

const signal = '<promise>COMPLETE</promise>';
const unsaid = { completion: { signal, said: false } };
const over = (minutes: number, more: Partial<AgentView> = {}) =>
  view('idle', null, minutes, { lastTurn: 'ok', lastTurnAtMs: viewNowMs - minutes * 60_000, ...more });

describe('completion-missing', () => {
  const background = [{ kind: 'shell' as const, id: 'x', sinceMs: 1, tool: null }];
  it.each<[string, AgentView]>([
    ['a turn that has just ended', over(0.5)],
    ['one that a person interrupted', over(10, { lastTurn: 'interrupted' })],
    ['a newer turn whose end is not on record yet', over(10, { turnIsOpen: true })],
    ['one that failed', over(10, { lastTurn: 'failed' })],
    ['an agent that has not been asked anything', over(10, { lastTurn: null, lastTurnAtMs: null })],
    ['an agent at work', { ...over(10), ...view('working', 'tool', 10) }],
    ['background work that still runs', over(10, { background })],
  ])('raises nothing for %s', (_, given) => expect(looked(completionMissing, given, unsaid)).toBeNull());
  it('raises nothing where no signal is agreed', () => expect(looked(completionMissing, over(600))).toBeNull());
  it('raises nothing where it was said', () =>
    expect(looked(completionMissing, over(600), { completion: { signal, said: true } })).toBeNull());
  it('raises a turn that is over without it', () =>
    expect(looked(completionMissing, over(2), unsaid)).toBe(`the turn is over without ${signal}`));
});

describe('what was said in a turn', () => {
  const says = (text: string): SessionFact => ({
    kind: 'reply',
    model: '',
    messageId: '',
    usage: null,
    ends: false,
    text: untrusted(text),
  });
  const prompt: SessionFact = { kind: 'prompt', origin: 'typed', chars: 1, tags: [] };
  const words = (...facts: SessionFact[]) => {
    const said = new TurnWords();
    for (const fact of facts) said.take(fact);
    return said;
  };
  it('is there to the end of the turn, also with more said after it', () =>
    expect(words(prompt, says(`done ${signal}`), says('and committed')).has(signal)).toBe(true));
  it('is gone with the next prompt, and stays with words typed in between', () => {
    expect(words(prompt, says(signal), prompt, says('hm')).has(signal)).toBe(false);
    expect(words(prompt, says(signal), { ...prompt, origin: 'mid-turn' }).has(signal)).toBe(true);
  });
  it('stays with a note of the client, such as of background work that ended, and what is said to that', () =>
    expect(words(prompt, says(signal), { ...prompt, origin: 'client' }, says('Seen.')).has(signal)).toBe(true));
  it('is bounded', () => expect(words(prompt, says(signal), says('x'.repeat(100_000))).has(signal)).toBe(false));
});
