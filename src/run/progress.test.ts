import { expect, it } from 'vitest';
import type { AgentView } from '../model/agent.ts';
import { defaultConfig } from './config/schema.ts';
import { Progress } from './progress.ts';

const minute = 60_000;

it('is asked for once, however long the asking takes, and again an interval after it was done', async () => {
  let nowMs = 0;
  const open: (() => void)[] = [];
  let asked = 0;
  const progress = new Progress({
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    config: defaultConfig,
    configFor: defaultConfig,
    progress: () => ({ sinceMs: 0, hidden: true }),
    isHandedOver: () => false,
    failed: (error) => {
      throw error;
    },
    prompter: {
      prompt: () => {
        asked += 1;
        return new Promise((resolve) => open.push(() => resolve({ outcome: 'confirmed' } as never)));
      },
    } as never,
    keeper: { lastPrompt: () => null, notePrompt: () => {} } as never,
  });
  const view = { agent: 'a', authority: 'manage', reading: { state: 'idle' } } as AgentView;
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
