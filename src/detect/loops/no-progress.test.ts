import { describe, expect, it } from 'vitest';
import { run, type ScriptedRun } from '../../../test/runs/scripted-run.ts';

const name = (turn: number) =>
  ['Alpha', 'Beta', 'Gamma', 'Delta', 'Epsilon', 'Zeta', 'Eta', 'Theta'][turn % 8] + 'x'.repeat(turn);

const healthy: [string, ScriptedRun][] = [
  ['counts that differ', run().times(20, (r, turn) => r.bash(`wc -l ${name(turn)}`, `${turn * 7} ${name(turn)}`))],
  [
    'searches that find something else each time',
    run().times(20, (r, turn) =>
      r.calls('Grep', name(turn)).gets(`src/${name(turn)}.ts: export ${'abcdefghijklmnopqrst'[turn]}word`),
    ),
  ],
  ['commands that succeed without a word', run().times(20, (r, turn) => r.bash(`mkdir -p d${turn}`, ''))],
  ['edits that all answer alike', run().times(20, (r, turn) => r.edit('a', `${turn}`, `${turn}!`))],
  [
    'six empty searches, then an edit',
    run()
      .times(6, (r, turn) => r.calls('Grep', name(turn)).gets('No matches found'))
      .edit('a', 'b', 'c'),
  ],
  ['twelve searches of one breath that find nothing', batch(run())],
  ['new commands that all answer alike', run().times(15, (r, turn) => r.bash(`check ${name(turn)}`, 'It is valid.'))],
  ['looks with the same value', run().times(15, (r, turn) => r.bash(`grep -c x ${name(turn)}`, '1'))],
  ['files that are all the same', run().times(15, (r, turn) => r.calls('Read', `${name(turn)}`).gets('a = 1 and b'))],
  [
    'a count of failures that falls',
    run().times(15, (r, turn) => r.edit('a', `${turn}`, `${turn}!`).bash('lint', `${40 - turn} problems`, true)),
  ],
  ['a failure that stays for nine changes', run().times(9, failing).edit('a', 'b', 'c').bash('make', 'built')],
  [
    'an old failure beside work on one file after the other',
    run().times(12, (r, turn) =>
      r.edit(`${name(turn)}.ts`, 'a', 'b').bash('npm run lint', 'legacy.js: unused name, 1 problem in all', true),
    ),
  ],
  [
    'a check that is clean with an exit code',
    run().times(12, (r, turn) =>
      r.edit('a.ts', `${turn}`, `${turn}!`).bash(`tsc | grep f${turn}`, 'Exit code 1', true),
    ),
  ],
  [
    'changes by a tool that answers with no error',
    run().times(12, (r, turn) =>
      r.calls('mcp__docs__update_page', `p${turn}`).gets(`{"error": null, "id": "p${turn}", "ok": true}`),
    ),
  ],
  [
    'failures of which the end gets better',
    run().times(12, (r, turn) =>
      r
        .edit('a.py', `${turn}`, `${turn}!`)
        .bash('check', `${'check /tmp/pytest-of-user/converted.json differs\n'.repeat(9)}${40 - turn} left`, true),
    ),
  ],
  ['six replies in a row', run().times(6, (r) => r.says('I will do it now.'))],
];

/** A change that works, and a build that fails as before, some lines further down. */
function failing(r: ScriptedRun, turn: number): void {
  r.edit('a.rs', `${turn}`, `${turn}!`).bash('make', `a.rs:${40 + turn}:9: no such method (in ${turn} ms)`, true);
}

/** All calls first, then all results. */
function batch(r: ScriptedRun): ScriptedRun {
  return r.times(12, (_, turn) => r.calls('Grep', name(turn))).times(12, () => r.gets('No matches found'));
}

const lost: [string, ScriptedRun][] = [
  ['the same failure after one change after the other', run().times(12, failing)],
  [
    'the same failure of ever new scripts',
    run().times(12, (r, turn) =>
      r.calls('Write', `run${turn}.sh`).gets('ok').bash(`sh run${turn}.sh`, 'javac: command not found', true),
    ),
  ],
  ['replies in a row, and nothing done', run().times(9, (r) => r.says('I am sorry. I will do it now.'))],
  ['breath after breath of searches that find nothing', run().times(11, (r) => batch(r))],
  [
    'searches that find nothing for 15 turns',
    run().times(15, (r, turn) =>
      r.calls('find_file', `find_file "${name(turn)}"`).gets(`No matches found for "${name(turn)}" in /repo`),
    ),
  ],
  [
    'empty output, call after call',
    run().times(15, (r, turn) => r.bash(`find /${name(turn)} -name "jdk*" 2>/dev/null`, '')),
  ],
  [
    'other calls that show the same page',
    run().times(15, (r, turn) => r.calls('goto', `goto ${turn}`).gets('x'.repeat(500))),
  ],
];

describe('no-progress', () => {
  it.each(healthy)('raises nothing for %s', (_, script) => expect(script.found()).toEqual([]));
  it.each(lost)('raises %s', (_, script) => expect(script.found()).toContain('no-progress'));
});
