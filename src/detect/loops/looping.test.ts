import { describe, expect, it } from 'vitest';
import { minute, run, type ScriptedRun } from '../../../test/runs/scripted-run.ts';

const healthy: [string, ScriptedRun][] = [
  [
    'the same command on a new output each time',
    run().times(9, (r, turn) => r.bash('ls -a', `level-${'abcdefghi'[turn]}\nsrc`)),
  ],
  [
    'polling a build with a changing output',
    run().times(20, (r, turn) => r.bash('tail -1 build.log', `${turn * 5} % of all modules`)),
  ],
  ['waiting with the same output', run().times(20, (r) => r.bash('sleep 30; cat status', 'pending'))],
  [
    'the same test between new edits, less and less of it failing',
    run().times(8, (r, turn) => r.edit('a.ts', `x${turn}`, `y${turn}`).bash('npm test', `${9 - turn} failed`, true)),
  ],
  [
    'the same text put in at different places',
    run().times(6, (r, turn) => r.calls('edit', `edit ${turn}:${turn}\nsame`).gets(`[File: a (${turn} lines)]`)),
  ],
  [
    'the same call three times',
    run()
      .times(3, (r) => r.bash('cat a', 'one'))
      .bash('cat b', 'two'),
  ],
  [
    'the same call after each word of a person',
    run().times(8, (r) => r.user().bash('git status', 'clean').says('ok', true)),
  ],
  ['reading the same files after a compaction', rereading()],
  [
    'a look after each wait',
    run().times(20, (r) => r.bash('sleep 30', '').calls('mcp__ci__get_run', '7').gets('in progress')),
  ],
  [
    'a test that passes after each new command',
    run().times(12, (r, turn) => r.bash(`npm i p${turn}`, `added p${turn}`).bash('npm test', '42 passing')),
  ],
  [
    'the same test, now passing and now failing',
    run().times(12, (r, turn) => r.bash('npm test', turn % 3 === 0 ? 'reset by peer' : '1 passing', turn % 3 === 0)),
  ],
  ['waiting for an hour with an output that changes', waiting((turn) => `step ${turn}`)],
  [
    'waiting for an hour for a count in an error that changes',
    run().times(70, (r, turn) =>
      r
        .calls('Bash', 'sleep 60; gh pr checks 12')
        .wait(minute)
        .gets(`${turn} successful, ${90 - turn} pending`, true),
    ),
  ],
  ['waiting for half an hour with the same output', waiting(() => 'pending', 30)],
];

function waiting(output: (turn: number) => string, minutes = 70): ScriptedRun {
  return run().times(minutes, (r, turn) => r.calls('Bash', 'sleep 60; cat status').wait(minute).gets(output(turn)));
}

function rereading(): ScriptedRun {
  const files = ['a', 'b', 'c', 'd', 'e', 'f'];
  const read = (r: ScriptedRun) => {
    for (const file of files) r.calls('Read', file).gets(`text of ${file}`);
  };
  const r = run();
  read(r);
  r.add({ kind: 'compacted', trigger: 'manual', tokensBefore: null, tokensAfter: null });
  read(r);
  return r;
}

const loops: [string, ScriptedRun][] = [
  ['waiting for more than an hour for what never changes', waiting(() => 'pending')],
  [
    'sleeping for more than an hour',
    run().times(20, (r) =>
      r
        .calls('Bash', 'sleep 240')
        .wait(4 * minute)
        .gets(''),
    ),
  ],
  [
    'a command that fails after each new one',
    run().times(6, (r, turn) => r.bash(`npm i p${turn}`, `added p${turn}`).bash('npm test', '1 failed', true)),
  ],
  ['the same call with the same output', run().times(6, (r) => r.bash('find / -name javac', '/usr/share/javac'))],
  [
    'an error that differs only in numbers',
    run().times(6, (r, turn) => r.bash('cd fastxml', `bash: line ${100 + turn}: cd: fastxml: No such file`, true)),
  ],
  ['an output that differs only in blanks', run().times(6, (r, turn) => r.bash('run', `a${' '.repeat(turn + 1)}b`))],
  [
    'the same change over and over, the file growing',
    run().times(6, (r, turn) => r.calls('edit', 'edit 4:4\nx').gets(`[${turn} lines]`)),
  ],
  ...[2, 3, 4, 5, 6].map((period): [string, ScriptedRun] => [
    `a cycle of ${period} calls`,
    run().times(period * 4, (r, turn) => r.bash(`show ${turn % period}`, `page ${turn % period}`)),
  ]),
  [
    'a repeat with other calls in between',
    run().times(6, (r, turn) => r.bash('open x', 'not found').bash(`look ${turn}`, `new thing ${'abcdef'[turn]}`)),
  ],
];

describe('looping', () => {
  it.each(healthy)('raises nothing for %s', (_, script) => expect(script.found()).toEqual([]));
  it.each(loops)('raises %s', (_, script) => expect(script.found()).toContain('looping'));

  it('is over after a new prompt, and one loop is one finding', () => {
    const script = run().times(12, (r) => r.bash('a', 'b'));
    expect(script.found().filter((check) => check === 'looping')).toHaveLength(1);
    const [finding] = script.user().findings();
    expect(finding?.until).toBe(script.events.length - 1);
  });

  it('asks for the hash of no output of new work: it is what a step costs', () => {
    const script = run().times(20, (r, turn) => r.bash(`cat ${turn}`, `text ${'x'.repeat(turn)}`));
    for (const { fact } of script.events) {
      if (fact.kind !== 'tool-result' || fact.sign === undefined) continue;
      const { start, lead, chars, excuse } = fact.sign;
      const dear = () => expect.fail('asked');
      fact.sign = {
        start,
        lead,
        chars,
        excuse,
        get hash() {
          return dear();
        },
        get problem() {
          return dear();
        },
      };
    }
    expect(script.found()).toEqual([]);
  });
});
