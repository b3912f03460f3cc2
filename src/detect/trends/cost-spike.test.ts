import { describe, expect, it } from 'vitest';
import { minute, run, type ScriptedRun } from '../../../test/runs/scripted-run.ts';

const usual = { input: 10, cacheRead: 40_000, cacheCreate: 500, output: 300 };
const dear = { input: 10, cacheRead: 0, cacheCreate: 60_000, output: 4_000 };

function requests(r: ScriptedRun, n: number, usage: object): ScriptedRun {
  return r.times(n, (one) => one.takes(usage).bash(`cat ${one.events.length}`, `text ${one.events.length}`));
}

const healthy: [string, ScriptedRun][] = [
  ['requests that cost the same', requests(run(), 60, usual)],
  ['one cold cache', requests(requests(requests(run(), 30, usual), 1, dear), 20, usual)],
  ['a burst after a night', requests(requests(run(), 30, usual).wait(600 * minute), 20, usual)],
  [
    'a context that grows',
    run().times(60, (r, turn) => requests(r, 1, { ...usual, cacheRead: 20_000 + turn * 2_000 })),
  ],
  ['a run that has always been dear', requests(run(), 60, dear)],
  [
    'much dearer, but cheap',
    requests(requests(run(), 30, { input: 10, output: 2 }), 20, { input: 1_000, output: 100 }),
  ],
];

describe('cost-spike', () => {
  it.each(healthy)('raises nothing for %s', (_, script) => expect(script.found()).not.toContain('cost-spike'));
  it('raises requests that cost many times what they did', () => {
    const script = requests(requests(run(), 30, usual), 8, dear);
    expect(script.found()).toContain('cost-spike');
  });
  it('is over when they no longer do', () => {
    const script = requests(requests(requests(run(), 30, usual), 8, dear), 20, usual);
    expect(script.findings().find(({ check }) => check === 'cost-spike')?.until).not.toBeNull();
  });
});
