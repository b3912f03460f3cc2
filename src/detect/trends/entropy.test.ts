import { describe, expect, it } from 'vitest';
import { run, type ScriptedRun } from '../../../test/runs/scripted-run.ts';

function varied(r: ScriptedRun, n: number): ScriptedRun {
  return r.times(n, (one) => one.bash(`show ${one.events.length}`, `thing ${'h'.repeat(one.events.length)}`));
}

const healthy: [string, ScriptedRun][] = [
  ['varied work', varied(run(), 80)],
  ['work that was never varied', run().times(80, (r, turn) => r.bash('next', `item ${'i'.repeat(turn + 1)}`))],
  [
    'tests between edits',
    varied(run(), 40).times(20, (r, turn) => r.edit('a', `x${turn}`, `y${turn}`).bash('npm test', `${turn} failed`)),
  ],
  [
    'scripts that begin alike',
    varied(run(), 40).times(40, (r, turn) =>
      r.bash(`python3 - ${'import '.repeat(60)}${turn}`, `got ${'p'.repeat(turn)}`),
    ),
  ],
  ['waiting', varied(run(), 40).times(30, (r) => r.bash('sleep 30; cat state', 'pending'))],
  [
    'the same after each word of a person',
    varied(run(), 40).times(20, (r) => r.user().bash('git log', `log ${'j'.repeat(r.events.length)}`)),
  ],
];

describe('entropy', () => {
  it.each(healthy)('raises nothing for %s', (_, script) => expect(script.found()).not.toContain('entropy'));
  it('warns when the same few actions are left, whatever they show', () => {
    const script = varied(run(), 50).times(24, (r, turn) =>
      r.bash(`page ${turn % 3}`, `news ${'k'.repeat(r.events.length)}`),
    );
    expect(script.found()).toContain('entropy');
  });
});
