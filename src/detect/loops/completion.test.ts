import { describe, expect, it } from 'vitest';
import { limits, minute, run, type ScriptedRun } from '../../../test/runs/scripted-run.ts';
import type { SessionFact, StartedWork } from '../../model/session-event.ts';
import { untrusted } from '../../model/text.ts';
import type { CompletionLimits } from './completion.ts';
import { type RunFinding, RunJudge } from './judge.ts';

const signal = '<promise>COMPLETE</promise>';

/** What is found where the signal is agreed on, a day after the last record. */
function found({ events }: ScriptedRun, completion: CompletionLimits | null = { signal, afterMs: minute }) {
  const findings: RunFinding[] = [];
  const judge = new RunJudge({ ...limits, completion }, ({ event, finding }) => {
    if (event === 'open') findings.push(finding);
  });
  for (const event of events) judge.take(event);
  judge.end((events.at(-1)?.atMs ?? 0) + 24 * 60 * minute);
  return findings;
}

const turnEnd: SessionFact = { kind: 'turn-end', durationMs: 1, pendingSubagents: 0 };
const failed: SessionFact = {
  kind: 'api-error',
  error: 'server_error',
  status: 500,
  text: untrusted(''),
  resetsAtMs: null,
};
const started = (work: StartedWork): SessionFact => ({
  kind: 'tool-result',
  id: 'c1',
  isError: false,
  started: work,
});
const shell: StartedWork = { kind: 'shell', id: 'b1', output: null };
const cut: SessionFact = {
  kind: 'reply',
  model: 'm',
  messageId: '',
  usage: null,
  ends: true,
  text: untrusted('x'.repeat(300)),
  isCut: true,
};

const checks = (script: ScriptedRun) => found(script).map(({ check }) => check);

describe('completion-missing on record', () => {
  it.each([
    ['the last turn ends without the word', run().says('It is done.', true), 1],
    ['a turn ends by its own record', run().bash('make', 'ok').says('It is done.').add(turnEnd), 1],
    [
      'and of each of two turns',
      run()
        .says('one', true)
        .wait(2 * minute)
        .user()
        .says('two', true),
      2,
    ],
    ['the word is said only in the turn before', run().says(signal, true).user().says('more', true), 1],
  ] as const)('is told where %s', (_, script, count) =>
    expect(checks(script)).toEqual(Array.from({ length: count }, () => 'completion-missing')),
  );

  it.each([
    ['the word is said', run().says(`Done. ${signal}`, true).add(turnEnd)],
    ['it is said before the last reply of the turn', run().says(signal).says('That was it.', true)],
    [
      'the client goes on within a minute',
      run()
        .says('one', true)
        .wait(minute / 2)
        .user()
        .says(signal, true),
    ],
    ['the turn is still open', run().bash('make', 'ok')],
    ['the turn was interrupted', run().says('so').add({ kind: 'interrupted' }).add(turnEnd)],
    ['background work runs', run().calls('Bash', 'make').add(started(shell)).says('It runs.', true).add(turnEnd)],
    ['there is no turn', run().add({ kind: 'command', name: 'clear' })],
    ['the record was cut, so it may have been said', run().add(cut)],
  ] as const)('is not where %s', (_, script) => expect(checks(script)).toEqual([]));

  it('is not where the turn failed: that is another trouble', () =>
    expect(checks(run().says('so').add(failed).add(turnEnd))).toEqual(['api-error']));

  it('is told a minute after the end, and over with the next turn', () => {
    const script = run()
      .says('one', true)
      .wait(5 * minute)
      .user()
      .says(signal, true);
    const [finding] = found(script);
    const endMs = script.events[1]?.atMs ?? Number.NaN;
    expect(finding).toMatchObject({ from: 1, sinceMs: endMs, atMs: endMs + minute, until: 2 });
    expect(finding?.text).toBe(`the turn is over without ${signal}`);
  });

  it('of a turn that a hook set going again is over, and told anew', () => {
    const script = run()
      .says('one', true)
      .wait(5 * minute)
      .says('two', true);
    expect(found(script).map(({ from, until }) => [from, until])).toEqual([
      [1, 2],
      [2, null],
    ]);
  });

  it('is nothing where no signal is agreed', () => expect(found(run().says('done', true), null)).toEqual([]));
});
