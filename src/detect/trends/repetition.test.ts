import { describe, expect, it } from 'vitest';
import { run, type ScriptedRun } from '../../../test/runs/scripted-run.ts';

const text = 'one\ntwo\nthree';

function read(r: ScriptedRun, file: string, output = text): ScriptedRun {
  return r.calls('Read', file).gets(output);
}

/** Something else, new each time. */
function other(r: ScriptedRun): ScriptedRun {
  return r.bash(`show ${r.events.length}`, `thing ${'c'.repeat(r.events.length)}`);
}

const healthy: [string, ScriptedRun][] = [
  ['many files, each once', run().times(40, (r, turn) => read(r, `f${turn}`, `text ${'d'.repeat(turn + 1)}`))],
  [
    'reading on in one file',
    run().times(20, (r, turn) => r.calls('Read', 'big', `big from ${turn * 100}`).gets(`page ${'e'.repeat(turn + 1)}`)),
  ],
  [
    'a file read before each of its edits',
    run().times(10, (r, turn) => read(r, 'a', `${text}${'f'.repeat(turn)}`).edit('a', `x${turn}`, `y${turn}`)),
  ],
  ['the same file after each word of a person', run().times(10, (r) => read(r.user(), 'a'))],
  [
    'the same file in one breath',
    run()
      .times(6, (r) => r.calls('Read', 'a'))
      .times(6, (r) => r.gets(text)),
  ],
  [
    'asking for the state of the repository between edits',
    run().times(10, (r, turn) => r.edit('a', `x${turn}`, `y${turn}`).bash('git status', 'M a')),
  ],
  [
    'the same file long ago',
    run().times(8, (r) => other(other(other(other(other(other(other(other(other(read(r, 'a'))))))))))),
  ],
  [
    'edits that fail now and then, and then work',
    run().times(6, (r, turn) =>
      r.edit('a', `x${turn}`, '', 'String not found', true).edit('a', `x${turn}`, `y${turn}`),
    ),
  ],
];

describe('repetition', () => {
  it.each(healthy)('raises nothing for %s', (_, script) => expect(script.found()).not.toContain('repetition'));
  it('raises an unchanged file that is read over and over, with other work in between', () => {
    const script = run().times(8, (r, turn) => other(read(r, 'a')).edit('b', `x${turn}`, `y${turn}`));
    expect(script.found()).toEqual(['repetition']);
  });
  it('raises edits of one file that always fail', () =>
    expect(
      run()
        .times(8, (r, turn) => other(r).edit('a', `x${turn}`, '', `String not found: ${'g'.repeat(turn + 1)}`, true))
        .found(),
    ).toContain('repetition'));
});
