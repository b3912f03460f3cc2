// What rules did is counted from the ledger, whatever became of the daemon that did it.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Action } from '../../src/model/action.ts';
import type { Store } from '../../src/model/store.ts';
import { migrate } from '../../src/record/migrate.ts';
import { openStore } from '../../src/record/store.ts';
import { agentView } from '../runs/agent-view.ts';
import { cloneDatabase, type TestDatabase } from './database.ts';

let database: TestDatabase;
let store: Store;
const baseMs = Date.parse('2026-11-15T12:00:00Z');

beforeAll(async () => {
  database = await cloneDatabase(async (url) => void (await migrate(url)), 'wk_test_migrated');
  store = openStore(database.adminUrl);
  const none = { sessions: [], events: [], spawns: [], points: [], checks: [] };
  const agents = ['a-ps', 'b-ps'].map((agent) => agentView('idle', null, 1, { agent, project: agent.slice(0, 1) }));
  expect((await store.write('h', { ...none, agents })).ok).toBe(true);
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

async function did(given: Partial<Action>, atSeconds: number, ...outcomes: string[]): Promise<void> {
  const id = randomUUID();
  const atMs = baseMs + atSeconds * 1_000;
  const intent = { text: `said at ${atSeconds}`, tag: 'wk-12ab', ...given.intent };
  const action = { id, atMs, agent: 'a-ps', kind: 'prompt', trigger: 'rule:silent-stop', finding: null, ...given };
  expect(await store.intend({ ...action, host: 'h', intent } as Action)).toMatchObject({ ok: true });
  for (const outcome of outcomes) await store.conclude({ actionId: id, atMs, outcome, reason: null, proof: null });
}

it('prompts count unless they were refused, each for all it was about; messages once they were told', async () => {
  const [stop, note, never] = [randomUUID(), randomUUID(), randomUUID()];
  await did({ finding: stop }, 1, 'confirmed', 'answered');
  await did({ finding: stop }, 2, 'refused');
  await did({ finding: stop, intent: { findings: [stop, note] } }, 3, 'uncertain');
  await did({ finding: stop, intent: { findings: [stop, note] } }, 4, 'refused');
  await did({ finding: stop }, 5);
  await did({ finding: stop, kind: 'notify' }, 6, 'told');
  await did({ finding: stop, kind: 'notify' }, 7, 'failed');
  await did({ finding: stop, kind: 'notify' }, 8);
  const deeds = await store.deedsAbout([stop, note, never]);
  if (!deeds.ok) throw new Error(deeds.message);
  expect(deeds.value.get(stop)).toEqual({
    prompts: 3,
    lastPromptMs: baseMs + 5_000,
    tells: 1,
    lastTellMs: baseMs + 6_000,
    isProved: true,
    leftovers: expect.arrayContaining(['said at 3 [wk-12ab]', 'said at 5 [wk-12ab]']),
  });
  expect(deeds.value.get(stop)?.leftovers).toHaveLength(2);
  const noteDeeds = { prompts: 1, lastPromptMs: baseMs + 3_000, tells: 0, lastTellMs: null, isProved: false };
  expect(deeds.value.get(note)).toEqual({ ...noteDeeds, leftovers: ['said at 3 [wk-12ab]'] });
  expect(deeds.value.has(never)).toBe(false);
});

it('of each rule and agent the last prompt is known that was not refused', async () => {
  const trigger = 'rule:spawn-progress' as const;
  await did({ agent: 'b-ps', trigger }, 10, 'confirmed');
  await did({ agent: 'b-ps', trigger }, 20);
  await did({ agent: 'b-ps', trigger }, 30, 'refused');
  await did({ agent: 'b-ps', trigger: 'human' }, 40, 'confirmed');
  await did({ agent: 'b-ps', trigger: 'rule:silent-stop' }, -90, 'confirmed');
  const last = await store.lastRulePrompts('h', baseMs - 60_000);
  if (!last.ok) throw new Error(last.message);
  expect(last.value.filter(({ agent }) => agent === 'b-ps')).toEqual([
    { host: 'h', agent: 'b-ps', project: 'b', trigger, atMs: baseMs + 20_000 },
  ]);
  expect(await store.lastRulePrompts('elsewhere', 0)).toEqual({ ok: true, value: [] });
});

it('"answered in time" counts the prompts of the last day that had their time; an error, silence and a late word are no answer', async () => {
  const day = 86_400;
  const nowMs = baseMs + 10 * day * 1_000;
  const given = (secondsAgo: number, ...rows: [outcome: string, afterSeconds: number, proof?: object][]) =>
    saidAt(nowMs - secondsAgo * 1_000, rows);
  const counted = async () => {
    const read = await store.answeredPrompts('h', nowMs, 30_000);
    if (!read.ok) throw new Error(read.message);
    return read.value;
  };
  expect(await counted()).toEqual({ given: 0, inTime: 0 });
  await given(day + 60, ['confirmed', 1], ['answered', 2, { answer_ms: 1_000 }]);
  await given(3_000, ['refused', 0]);
  await given(20, ['confirmed', 1]);
  await given(900, ['queued', 1]);
  expect(await counted(), 'of another day, refused, or its time is not over').toEqual({ given: 0, inTime: 0 });

  await given(3_000, ['confirmed', 1], ['answered', 30, { answer_ms: 29_000 }]);
  await given(2_900, ['queued', 1], ['reacted', 700, { reacted_ms: 3_000 }]);
  await given(
    2_800,
    ['confirmed', 1],
    ['reacted', 5, { reacted_ms: 4_000 }],
    ['answered', 600, { answer_ms: 599_000 }],
  );
  await given(20, ['confirmed', 1], ['answered', 3, { answer_ms: 2_000 }]);
  expect(await counted()).toEqual({ given: 4, inTime: 4 });

  await given(2_000, ['confirmed', 1], ['failed-by-service', 2]);
  await given(1_900, ['confirmed', 1]);
  await given(1_800, ['uncertain', 10]);
  await given(1_700, ['confirmed', 1], ['answered', 60, { answer_ms: 59_000 }]);
  await given(1_600, ['confirmed', 1], ['answered', 2, { answer_ms: 'soon' }]);
  expect(await counted()).toEqual({ given: 9, inTime: 4 });
});

async function saidAt(atMs: number, rows: [outcome: string, afterSeconds: number, proof?: object][]): Promise<void> {
  const id = randomUUID();
  const about = { agent: 'b-ps', kind: 'prompt', trigger: 'human', finding: null, intent: { tag: 'wk-12ab' } } as const;
  await store.intend({ id, atMs, host: 'h', ...about });
  for (const [outcome, seconds, proof] of rows)
    await store.conclude({
      ...{ actionId: id, atMs: atMs + seconds * 1_000, outcome, reason: null },
      proof: (proof as Action['intent'] | undefined) ?? null,
    });
}
