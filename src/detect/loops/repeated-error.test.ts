import { describe, expect, it } from 'vitest';
import { run, type ScriptedRun } from '../../../test/runs/scripted-run.ts';

const rejected = "The user doesn't want to proceed with this tool use. The tool use was rejected.";

const healthy: [string, ScriptedRun][] = [
  [
    'a parallel batch whose siblings failed',
    run().times(10, (r, turn) =>
      r.bash(`go test ./${turn}`, '<tool_use_error>Sibling tool call errored</tool_use_error>', true),
    ),
  ],
  [
    'twelve calls of one breath that all fail',
    run()
      .times(12, (r, turn) => r.calls('Bash', `go test ./${turn}`))
      .times(12, (r, turn) => r.gets(`cause ${'abcdefghijkl'[turn]}`, true)),
  ],
  ['edits that a person rejects', run().times(10, (r, turn) => r.edit('a', `${turn}`, 'b', rejected, true))],
  [
    'a build that fails while it is being fixed',
    run().times(10, (r, turn) =>
      r.bash('go build', `cause ${'abcdefghij'[turn]}`, true).edit('a.go', `${turn}`, `${turn}x`),
    ),
  ],
  [
    'five failing installs, then another way',
    run()
      .times(5, (r, turn) => r.bash(`pip install ${turn}`, 'no such package', true))
      .bash('ls', 'a b'),
  ],
  [
    'outputs that talk of errors',
    run().times(10, (r, turn) =>
      r.bash(`cat ${turn}.log`, `Error: 429 rate limit Exception Failed: ${'abcdefghij'[turn]} story`),
    ),
  ],
];

const spirals: [string, ScriptedRun][] = [
  [
    'prose sent to the shell',
    run().times(10, (r, turn) =>
      r.bash(`DISCUSSION I will ${turn}`, `bash: line ${turn}: DISCUSSION: command not found`, true),
    ),
  ],
  [
    'different edits, all rejected by the tool',
    run().times(10, (r, turn) => r.edit('a.py', `${turn}`, 'b', `syntax error ${'abcdefghij'[turn]}`, true)),
  ],
];

describe('repeated-error', () => {
  it.each(healthy)('raises nothing for %s', (_, script) => expect(script.found()).toEqual([]));
  it.each(spirals)('raises %s', (_, script) => expect(script.found()).toContain('repeated-error'));
});
