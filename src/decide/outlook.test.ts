import { expect, it } from 'vitest';
import type { CheckName } from '../model/check.ts';
import { outlookOf } from './outlook.ts';
import type { NextStep } from './policy.ts';

it.each<[CheckName, number, NextStep, string, number | null]>([
  ['silent-stop', 0, { do: 'prompt', template: 'continue' }, 'continue now', null],
  ['silent-stop', 0, { do: 'wait', for: 'prompt', reason: 'rate-refused', untilMs: 5 }, 'continue', 5],
  [
    'stalled-turn',
    0,
    { do: 'wait', for: 'prompt', reason: 'is-working', untilMs: null },
    'prompt waits: it is working',
    null,
  ],
  ['waiting-human', 0, { do: 'tell' }, 'you are told now', null],
  ['waiting-human', 0, { do: 'wait', for: 'tell', reason: 'others-may-follow', untilMs: 5 }, 'you are told', 5],
  ['waiting-human', 0, { do: 'wait', for: 'tell', reason: 'paused', untilMs: null }, 'message waits: paused', null],
  ['waiting-human', 1, { do: 'wait', for: 'tell', reason: 'told', untilMs: 5 }, 'you were told, again', 5],
  ['context-full', 1, { do: 'wait', for: null, reason: 'told', untilMs: null }, 'you were told', null],
  [
    'waiting-human',
    1,
    { do: 'wait', for: null, reason: 'acknowledged', untilMs: null },
    'somebody has acknowledged it',
    null,
  ],
  ['silent-stop', 0, { do: 'wait', for: 'prompt', reason: 'out-of-sight', untilMs: null }, 'not seen any more', null],
  [
    'looping',
    0,
    { do: 'wait', for: null, reason: 'only-recorded', untilMs: null },
    'this check is only shown and recorded',
    null,
  ],
])('%s, told %i times, %o: %s', (check, tells, step, what, atMs) => {
  expect(outlookOf({ check, tells }, step)).toEqual({ what, atMs });
});
