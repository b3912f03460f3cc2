import { expect, it } from 'vitest';
import { defaultConfig } from '../config/schema.ts';
import type { AnsweredPrompts } from '../model/deeds.ts';
import { fail, ok, type Result } from '../model/result.ts';
import type { StoreFailure } from '../model/store.ts';
import { PromptTally } from './prompt-tally.ts';

type Read = Promise<Result<AnsweredPrompts, StoreFailure>>;

function tally(reads: Read[]): { tally: PromptTally; asked: () => number } {
  let asked = 0;
  const answeredPrompts = () => reads[asked++] ?? new Promise<never>(() => {});
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  const made = new PromptTally({ host: 'h', store: { answeredPrompts }, clock, config: defaultConfig });
  return { tally: made, asked: () => asked };
}

it('what the ledger said last stands while the database is away', async () => {
  const given = { given: 3, inTime: 2 };
  const { tally: one } = tally([Promise.resolve(ok(given)), Promise.resolve(fail('unavailable', 'gone'))]);
  expect(one.last).toBeNull();
  await one.refresh();
  await one.refresh();
  expect(one.last).toEqual(given);
});

it('nobody waits for a database that hangs, and it is asked once', async () => {
  const { tally: one, asked } = tally([]);
  const beganMs = performance.now();
  await one.refresh();
  await one.refresh();
  expect(performance.now() - beganMs).toBeLessThan(900);
  expect(asked()).toBe(1);
});
