import { expect, it } from 'vitest';
import { agentView } from '../../test/runs/agent-view.ts';
import { defaultConfig } from '../config/schema.ts';
import { Examiner } from './examiner.ts';

it('why nothing was found is told while an ended agent is shown, and forgotten with it', () => {
  const examiner = new Examiner({
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
    config: defaultConfig,
    unansweredSince: () => null,
    idFor: () => 'id',
    isOpen: () => false,
  });
  const view = agentView('ended', null, 1);
  examiner.examine(view, { loops: [], words: null }, 0);
  examiner.ended(view.agent);
  expect(examiner.fine(view.agent)).not.toEqual([]);
  examiner.forget(view.agent);
  expect(examiner.fine(view.agent)).toEqual([]);
});
