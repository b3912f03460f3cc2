import { describe, expect, it } from 'vitest';
import type { CallAct, SessionFact } from '../model/session-event.ts';
import { untrusted } from '../model/text.ts';
import { type HandoffSigns, newHandoffSigns, takeHandoffSign } from './handoff-signs.ts';

const file = '/p/.watchkeeper/handoffs/handoff-2026-01-02-03-04-05.md';

function fold(...facts: SessionFact[]): HandoffSigns {
  const signs = newHandoffSigns();
  for (const [n, fact] of facts.entries()) takeHandoffSign(signs, { atMs: n + 1, key: String(n), fact }, file);
  return signs;
}

function call(id: string, target: string, act: CallAct = 'look'): SessionFact {
  const sign = { hash: id, target, act, quick: true, edit: null };
  return { kind: 'tool-call', id, tool: act === 'look' ? 'Read' : 'Bash', about: null, sign };
}

const result = (id: string, isError = false): SessionFact => ({ kind: 'tool-result', id, isError, started: null });
const reply = (text: string, ends = true): SessionFact => ({
  kind: 'reply',
  model: 'm',
  messageId: 'i',
  usage: null,
  ends,
  text: untrusted(text),
});

describe('a handoff is taken up when the document was read and something came after', () => {
  it.each<[string, SessionFact[], boolean, boolean]>([
    ['read, and a call', [call('1', file), result('1'), call('2', 'x', 'run')], true, true],
    ['read, and a word', [call('1', file), result('1'), reply('Going on.')], true, true],
    ['read by a command', [call('1', `cat ${file}`, 'run'), result('1'), reply('Yes.')], true, true],
    ['read by its place in the project', [call('1', file.slice(3)), result('1'), reply('Yes.')], true, true],
    ['read, and nothing yet', [call('1', file), result('1')], true, false],
    ['asked for, no result yet', [call('1', file), reply('…', false)], false, false],
    ['it could not be read', [call('1', file), result('1', true), reply('No such file.')], false, false],
    ['written over, not read', [call('1', file, 'change'), result('1'), reply('Done.')], false, false],
    ['another file', [call('1', '/p/README.md'), result('1'), reply('Done.')], false, false],
    ['only words about it', [reply(`I have read ${file} and will go on.`)], false, false],
  ])('%s', (_name, facts, read, wentOn) => {
    const signs = fold(...facts);
    expect([signs.readMs !== null, signs.wentOnMs !== null]).toEqual([read, wentOn]);
  });
});

describe('work after the document', () => {
  it.each<[string, SessionFact[], number | null]>([
    ['writing it is none', [call('1', file, 'change')], null],
    ['looking is none', [call('1', 'README.md')], null],
    ['running something is', [call('1', 'npm test', 'run')], 1],
    ['changing something is', [call('1', file, 'change'), call('2', 'src/a.ts', 'change')], 2],
  ])('%s', (_name, facts, workedMs) => expect(fold(...facts).workedMs).toBe(workedMs));
});

describe('what else is on record', () => {
  it('ends of turns, failures, compaction, and who said what', () => {
    const prompt = (tags: string[]): SessionFact => ({ kind: 'prompt', origin: 'typed', chars: 3, tags });
    const signs = fold(
      prompt(['wk-1']),
      { kind: 'api-error', error: 'overloaded', status: 529, text: untrusted(''), resetsAtMs: null },
      { kind: 'compacted', trigger: 'auto', tokensBefore: 1, tokensAfter: 1 },
      { kind: 'prompt', origin: 'client', chars: 3, tags: [] },
      { kind: 'turn-end', durationMs: 1, pendingSubagents: 0 },
    );
    expect(signs).toMatchObject({
      failedMs: 2,
      compactedMs: 3,
      turnEndedMs: 5,
      prompts: [{ atMs: 1, tags: ['wk-1'] }],
    });
  });
});
