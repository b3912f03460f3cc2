import { expect, it } from 'vitest';
import { agentView } from '../../test/runs/agent-view.ts';
import { defaultConfig } from '../config/schema.ts';
import { WorkProgress } from './progress.ts';
import { Spoken } from './spoken.ts';

const minute = 60_000;

it('is asked for once, however long the asking takes, and again an interval after it was done', async () => {
  let nowMs = 0;
  const open: (() => void)[] = [];
  let asked = 0;
  const parts = { clock: { nowMs: () => nowMs, monotonicMs: () => nowMs }, config: defaultConfig };
  const progress = new WorkProgress({
    ...parts,
    configFor: defaultConfig,
    spoken: new Spoken({ ...parts, host: 'h', store: {} as never }),
    progress: () => ({ sinceMs: 0, hidden: true }),
    isHandedOver: () => false,
    isReadUp: () => true,
    failed: (error) => {
      throw error;
    },
    actions: {
      prompt: () => {
        asked += 1;
        return new Promise((resolve) => open.push(() => resolve({ outcome: 'confirmed' } as never)));
      },
    } as never,
  });
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
