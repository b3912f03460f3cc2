import { describe, expect, it } from 'vitest';
import { run, type ScriptedRun } from '../../../test/runs/scripted-run.ts';

const large = { input: 10, cacheRead: 100_000, cacheCreate: 2_000, output: 1_500 };
const small = { input: 10, cacheRead: 8_000, cacheCreate: 200, output: 100 };

function searches(r: ScriptedRun, n: number, usage: object, output = ''): ScriptedRun {
  return r.times(n, (one, turn) => one.takes(usage).calls('Grep', `name${turn}`).gets(output));
}

const healthy: [string, ScriptedRun][] = [
  [
    'dear requests that bring something',
    run().times(30, (r, turn) => r.takes(large).bash(`cat ${turn}`, `text of ${'x'.repeat(turn + 1)}`)),
  ],
  ['searches that find nothing on a short context', searches(run(), 14, small)],
  ['searches between changes', run().times(8, (r, turn) => searches(r, 3, large).edit('a', `x${turn}`, `y${turn}`))],
  ['searches after each word of a person', run().times(8, (r) => searches(r.user(), 3, large))],
  ['waiting', run().times(30, (r) => r.takes(large).bash('sleep 60; cat state', 'pending'))],
  ['searches whose price is not known', run().times(14, (r, turn) => r.calls('Grep', `n${turn}`).gets(''))],
];

describe('token-burn', () => {
  it.each(healthy)('raises nothing for %s', (_, script) => expect(script.found()).not.toContain('token-burn'));
  it('raises much spent on searches that find nothing', () =>
    expect(searches(run(), 14, large).found()).toContain('token-burn'));
  it('is over with the next prompt', () => {
    const script = searches(run(), 14, large).user();
    expect(script.findings().find(({ check }) => check === 'token-burn')?.until).toBe(script.events.length - 1);
  });
});
