// What came of a prompt once it arrived, as the ledger has it.
import { expect, it } from 'vitest';
import type { Action, ActionOutcome } from '../model/action.ts';
import { ok } from '../model/result.ts';
import type { SessionFact } from '../model/session-event.ts';
import { untrusted } from '../model/text.ts';
import { Answers } from './answers.ts';

const action: Action = {
  ...{ id: 'i', atMs: 1_000, host: 'h', agent: 'a-ps', kind: 'prompt', trigger: 'human', finding: null },
  intent: { text: 'Go on.', tag: 'wk-12ab' },
};
const prompt: SessionFact = { kind: 'prompt', origin: 'typed', chars: 9, tags: ['wk-12ab'] };
const call: SessionFact = { kind: 'tool-call', id: 't', tool: 'Bash', about: null };
const reply: SessionFact = {
  ...{ kind: 'reply', model: 'm', messageId: 'r', usage: null, ends: true },
  text: untrusted('It is done.'),
};
const error: SessionFact = {
  ...{ kind: 'api-error', error: 'overloaded', status: 529, resetsAtMs: null },
  text: untrusted('Overloaded'),
};

/** Each fact with its time; `daemons`: so many read the same record, one after the other. */
async function ledger(daemons: number, ...facts: [atMs: number, fact: SessionFact][]): Promise<ActionOutcome[]> {
  const rows: ActionOutcome[] = [];
  for (let n = 0; n < daemons; n += 1) {
    const clock = { nowMs: () => 99_000 + n, monotonicMs: () => 0 };
    const answers = new Answers({ clock, conclude: async (row) => ok(void rows.push(row)), answered: () => {} });
    answers.follow(action, Promise.resolve());
    for (const [atMs, fact] of facts) answers.told('a-ps', { key: `${atMs}`, atMs, fact });
    await Promise.resolve();
  }
  return rows;
}

it('work that was taken up is on record as that from its first call on, however long it goes on', async () => {
  const taken = await ledger(1, [2_000, prompt], [9_000, call]);
  expect(taken).toEqual([
    { actionId: 'i', atMs: 9_000, outcome: 'reacted', reason: null, proof: { reacted_ms: 7_000 } },
  ]);
  const [, answered] = await ledger(1, [2_000, prompt], [9_000, call], [3_600_000, reply]);
  expect(answered).toMatchObject({ outcome: 'answered', proof: { answer: 'It is done.', answer_ms: 3_598_000 } });
});

it('the daemon after it reads the same record and writes the same row', async () => {
  const [first, second] = await ledger(2, [2_000, prompt], [9_000, call]);
  expect(second).toEqual(first);
});

it('an answer that is all there is to it is one row', async () => {
  const rows = await ledger(1, [2_000, prompt], [3_000, reply]);
  expect(rows.map(({ outcome, proof }) => [outcome, proof?.answer_ms])).toEqual([['answered', 1_000]]);
});

it('an error is no answer', async () => {
  const rows = await ledger(1, [2_000, prompt], [3_000, error]);
  expect(rows.map(({ outcome }) => outcome)).toEqual(['failed-by-service']);
});

it.each([
  ['the context question', { asks: 'context' }, 'Context: 31.6% (63,153/200,000 tokens)', 63_153],
  ['the context question, and it makes no sense', { asks: 'context' }, 'Context: 91.6% (63,153/200,000 tokens)', null],
  ['anything else, in which a figure stands', {}, 'b-ps says Context: 31.6% (63,153/200,000 tokens)', null],
])('an answer to %s', (_name, asked, text, used) => {
  const heard: (number | null)[] = [];
  const answers = new Answers({
    clock: { nowMs: () => 9_000, monotonicMs: () => 0 },
    conclude: async () => ok(undefined),
    answered: (_action, context) => heard.push(context?.used ?? null),
  });
  answers.follow({ ...action, intent: { ...action.intent, ...asked } }, Promise.resolve());
  answers.told('a-ps', { key: '1', atMs: 2_000, fact: prompt });
  answers.told('a-ps', { key: '2', atMs: 3_000, fact: { ...reply, text: untrusted(text) } as SessionFact });
  expect(heard).toEqual([used]);
});
