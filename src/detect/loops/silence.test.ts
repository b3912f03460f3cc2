import { describe, expect, it } from 'vitest';
import { minute, run, ScriptedRun } from '../../../test/runs/scripted-run.ts';
import { untrusted } from '../../model/text.ts';

const hour = 60 * minute;
const turnEnd = { kind: 'turn-end', durationMs: null, pendingSubagents: 0 } as const;

const healthy: [string, ScriptedRun][] = [
  [
    'hours after the turn ended',
    run()
      .says('done', true)
      .wait(20 * hour)
      .user(),
  ],
  [
    'hours after its last word, where the end is not recorded',
    run()
      .says('done')
      .wait(20 * hour)
      .user(),
  ],
  ['hours before the first prompt', new ScriptedRun().add({ kind: 'progress' }).wait(hour).user()],
  ['hours after /exit', run().says('done').add({ kind: 'command', name: 'exit' }).wait(hour).user()],
  ['hours after an interruption', run().calls('Bash', 'make').add({ kind: 'interrupted' }).wait(hour).user()],
  [
    'hours after an error gave the turn up',
    run()
      .add({ kind: 'api-error', error: 'server_error', status: 500, text: untrusted(''), resetsAtMs: null })
      .wait(hour)
      .user(),
  ],
  [
    'a call that a compaction lost',
    run()
      .calls('Edit', 'a')
      .add({ kind: 'compacted', trigger: 'manual', tokensBefore: null, tokensAfter: null })
      .says('done')
      .add(turnEnd)
      .wait(hour)
      .user(),
  ],
  ['a model that takes 330 seconds', run().wait(330_000).says('hm')],
  [
    'a build of nine minutes',
    run()
      .calls('Bash', 'make all')
      .wait(9 * minute)
      .gets('ok'),
  ],
  [
    'an hour of a subagent at work',
    run()
      .calls('Task', 'look')
      .times(30, (r) => r.wait(2 * minute).add({ kind: 'progress' }))
      .gets('done'),
  ],
  [
    'a person who reads a plan for four minutes',
    run()
      .calls('ExitPlanMode', '')
      .wait(4 * minute)
      .gets('ok'),
  ],
];

const silent: [string, string, ScriptedRun][] = [
  [
    'a question without an answer',
    'waiting-human',
    run()
      .calls('AskUserQuestion', '')
      .wait(7 * minute)
      .gets('yes'),
  ],
  [
    'an edit that does not return',
    'waiting-human',
    run()
      .calls('Edit', 'a.ts')
      .wait(7 * minute)
      .gets('ok'),
  ],
  [
    'a quick command that does not return',
    'waiting-human',
    run()
      .calls('Bash', 'cd /x && git commit -m y')
      .wait(7 * minute)
      .gets('ok'),
  ],
  [
    'a command that is silent for long',
    'stalled-turn',
    run()
      .calls('Bash', './e2e.sh')
      .wait(11 * minute)
      .gets('ok'),
  ],
  [
    'a model that does not answer a result',
    'stalled-turn',
    run()
      .bash('make', 'ok')
      .wait(6 * minute)
      .says('so'),
  ],
  [
    'a retry that does not help',
    'stalled-turn',
    run()
      .wait(5 * minute)
      .add({ kind: 'retry', attempt: 1, attemptsMax: 10, status: null, untilMs: 0 })
      .wait(2 * minute)
      .says('so'),
  ],
];

describe('silence, by the record alone', () => {
  it.each(healthy)('raises nothing for %s', (_, script) =>
    expect(script.found().filter((check) => check === 'waiting-human' || check === 'stalled-turn')).toEqual([]),
  );
  it.each(silent)('raises %s', (_, check, script) => expect(script.found()).toContain(check));

  it('is told when its time is over, not when the silence ends', () => {
    const [finding] = run().calls('AskUserQuestion', '').wait(hour).gets('yes').findings();
    expect((finding?.atMs ?? 0) - (finding?.sinceMs ?? 0)).toBe(6 * minute);
    expect((finding?.untilMs ?? 0) - (finding?.sinceMs ?? 0)).toBe(hour + 1_000);
  });
});
