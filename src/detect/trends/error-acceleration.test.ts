import { describe, expect, it } from 'vitest';
import { run, type ScriptedRun } from '../../../test/runs/scripted-run.ts';

function works(r: ScriptedRun, n: number): ScriptedRun {
  return r.times(n, (one) => one.bash(`cat ${one.events.length}`, `text ${'a'.repeat(one.events.length)}`));
}

function fails(r: ScriptedRun, n: number): ScriptedRun {
  return r.times(n, (one) =>
    one.bash(`make ${one.events.length}`, `error in part ${'b'.repeat(one.events.length)}`, true),
  );
}

/** All calls first, then all results, as the client makes them in one breath. */
function batch(r: ScriptedRun, n: number, output: string): ScriptedRun {
  return r
    .times(n, (one, turn) => one.calls('Read', `f${turn}-${one.events.length}`))
    .times(n, (one) => one.gets(output, true));
}

const healthy: [string, ScriptedRun][] = [
  ['a run without errors', works(run(), 60)],
  ['a few errors now and then', run().times(8, (r) => fails(works(r, 5), 1))],
  ['a parallel batch that fails at once', works(batch(works(run(), 20), 8, 'File does not exist.'), 5)],
  ['siblings of a failed call', works(batch(works(run(), 20), 10, 'Sibling tool call errored'), 5)],
  [
    'calls that a person refuses',
    works(run(), 20).times(8, (r) => r.bash('rm x', "The user doesn't want to proceed with this tool use.", true)),
  ],
  [
    'tests that fail while they are being fixed',
    works(run(), 20).times(8, (r, turn) => fails(r, 2).edit('a', `${turn}`, `${turn}b`)),
  ],
  [
    'searches that find nothing',
    works(run(), 20).times(8, (r, turn) => r.bash(`grep x${turn} .`, 'Exit code 1', true)),
  ],
  ['errors after each word of a person', works(run(), 20).times(6, (r) => fails(r.user(), 2))],
  ['a run that fails from the start', fails(run(), 8)],
  ['three errors in a row', fails(works(run(), 30), 3)],
];

describe('error-acceleration', () => {
  it.each(healthy)('raises nothing for %s', (_, script) => expect(script.found()).not.toContain('error-acceleration'));
  it('raises errors that become many, before most steps fail', () => {
    const script = works(run(), 30).times(3, (r) => fails(works(r, 1), 2));
    expect(script.found()).toContain('error-acceleration');
    expect(script.found()).not.toContain('repeated-error');
  });
});
