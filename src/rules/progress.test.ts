import { expect, it } from 'vitest';
import { agentView } from '../../test/runs/agent-view.ts';
import { defaultConfig } from '../config/schema.ts';
import { WorkProgress } from './progress.ts';
import { Spoken } from './spoken.ts';

const minute = 60_000;

function asking(now: () => number, quietUntilMs: () => number | null, ask: () => Promise<never>): WorkProgress {
  const parts = { clock: { nowMs: now, monotonicMs: now }, config: defaultConfig };
  return new WorkProgress({
    ...parts,
    configFor: defaultConfig,
    spoken: new Spoken({ ...parts, host: 'h', store: {} as never }),
    progress: () => ({ sinceMs: 0, hidden: true }),
    quietUntilMs,
    isHandedOver: () => false,
    isReadUp: () => true,
    failed: (error) => {
      throw error;
    },
    actions: { prompt: ask } as never,
  });
}

it('is asked for once, however long the asking takes, and again an interval after it was done', async () => {
  let nowMs = 0;
  const open: (() => void)[] = [];
  let asked = 0;
  const progress = asking(
    () => nowMs,
    () => null,
    () => {
      asked += 1;
      return new Promise((resolve) => open.push(() => resolve({ outcome: 'confirmed' } as never)));
    },
  );
  const view = agentView('idle', null, 1);
  for (nowMs = 0; nowMs < 60 * minute; nowMs += minute) progress.round([view]);
  expect(asked).toBe(1);
  open[0]?.();
  await progress.settled();
  progress.round([view]);
  expect(asked).toBe(1);
  nowMs += 10 * minute;
  progress.round([view]);
  expect(asked).toBe(2);
});

it('is not asked for while a start is quiet, and then at once if it is due', async () => {
  let nowMs = 0;
  let quietUntilMs: number | null = 20 * minute;
  const askedMs: number[] = [];
  const progress = asking(
    () => nowMs,
    () => quietUntilMs,
    () => {
      askedMs.push(nowMs);
      return Promise.resolve({ outcome: 'confirmed' } as never);
    },
  );
  for (; nowMs < 20 * minute; nowMs += minute) progress.round([agentView('idle', null, 1)]);
  expect(askedMs).toEqual([]);
  quietUntilMs = null;
  progress.round([agentView('idle', null, 1)]);
  await progress.settled();
  expect(askedMs).toEqual([20 * minute]);
});
