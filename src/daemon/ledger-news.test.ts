import { expect, it } from 'vitest';
import type { Action, ActionOutcome } from '../model/action.ts';
import { fail, ok } from '../model/result.ts';
import { heardLedger } from './ledger-news.ts';
import type { Because, DeedNews } from './news.ts';

const action: Action = {
  id: 'i',
  atMs: 1,
  host: 'h',
  agent: 'a-ps',
  kind: 'prompt',
  trigger: 'rule:silent-stop',
  intent: { text: 'Go on.', tag: 'wk-1', by: 'rule', findings: ['f', 'g'] },
  finding: 'f',
};
const outcome = (more: Partial<ActionOutcome> = {}): ActionOutcome => {
  return { actionId: 'i', atMs: 2, outcome: 'confirmed', reason: null, proof: null, ...more };
};

function heard(hasLedger = true) {
  const news: DeedNews[] = [];
  const rows: string[] = [];
  let trouble: Omit<Because, 'more'> | null = { check: 'silent-stop', sinceMs: 7 };
  const done = async (row: string) => {
    rows.push(row);
    return hasLedger ? ok(undefined) : fail('unavailable' as const, 'away');
  };
  const ledger = heardLedger(
    {
      intend: ({ id }) => done(`intend ${id}`),
      conclude: (row) => done(`conclude ${row.outcome}`),
      openActions: async () => ok([{ action, delivered: true }]),
    },
    () => trouble,
    (deed) => news.push(deed),
  );
  const mend = () => {
    trouble = null;
  };
  return { ledger, news, rows, mend };
}

it('every outcome is heard with what it was because of, also when that is over by then, and written as ever', async () => {
  const { ledger, news, rows, mend } = heard();
  await ledger.intend(action);
  expect(news).toEqual([]);
  mend();
  await ledger.conclude(outcome());
  await ledger.conclude(outcome({ outcome: 'reacted' }));
  await ledger.conclude(outcome({ outcome: 'answered', proof: { answer: 'Done.', answer_ms: 1_500 } }));
  expect(rows).toEqual(['intend i', 'conclude confirmed', 'conclude reacted', 'conclude answered']);
  const because = { check: 'silent-stop', sinceMs: 7, more: 1 };
  expect(news).toMatchObject([
    { outcome: 'confirmed', by: 'rule', text: 'Go on.', tag: 'wk-1', answerMs: null, because },
    { outcome: 'answered', answerMs: 1_500, because },
  ]);
});

it('what an earlier run left, and what nobody could write down, is heard too; an outcome of nothing is not', async () => {
  const { ledger, news } = heard(false);
  await ledger.conclude(outcome({ actionId: 'another' }));
  expect(news).toEqual([]);
  await ledger.openActions('h');
  await ledger.conclude(outcome({ outcome: 'uncertain', reason: 'daemon-restarted' }));
  expect(news).toMatchObject([{ outcome: 'uncertain', reason: 'daemon-restarted' }]);
});
