import { describe, expect, it } from 'vitest';
import { run, type ScriptedRun } from '../../../test/runs/scripted-run.ts';

const short = { input: 10, cacheRead: 20_000, output: 100 };
const long = { input: 10, cacheRead: 120_000, output: 100 };

function good(r: ScriptedRun, n: number, usage: object): ScriptedRun {
  return r.times(n, (one) =>
    one.takes(usage).bash(`cat ${one.events.length}`, `text ${'l'.repeat(one.events.length)}`),
  );
}

/** Of three steps one fails, one is a repeat and one is good. */
function bad(r: ScriptedRun, n: number, usage: object): ScriptedRun {
  return r.times(n, (one) => {
    one.takes(usage).bash(`make ${one.events.length}`, `error ${'m'.repeat(one.events.length)}`, true);
    one.takes(usage).bash('cat known', 'known');
    good(one, 1, usage);
  });
}

function failing(r: ScriptedRun, n: number, usage: object): ScriptedRun {
  return r.times(n, (one) => good(one.takes(usage).bash(`x ${one.events.length}`, 'no', true), 1, usage));
}

const healthy: [string, ScriptedRun][] = [
  ['good work in a long context', good(good(run(), 30, short), 60, long)],
  ['a long context alone, filled at once', good(run(), 80, long)],
  ['bad work in a short context', bad(good(run(), 30, short), 12, short)],
  ['work that was bad from the start', bad(bad(run(), 12, short), 12, long)],
  ['one sign only: it fails more', failing(good(run(), 30, short), 20, long)],
  ['a context whose size nobody tells', bad(good(run(), 30, {}), 12, {})],
];

describe('cognitive-decay', () => {
  it.each(healthy)('raises nothing for %s', (_, script) => expect(script.found()).not.toContain('cognitive-decay'));
  it('raises a run that does worse by two signs in a long context', () => {
    const script = bad(good(run(), 30, short), 12, long);
    expect(script.found()).toContain('cognitive-decay');
    const finding = script.findings().find(({ check }) => check === 'cognitive-decay');
    expect(finding?.text).toContain('more failures and repeats than with few');
  });
  it('is over with a compaction, not with a prompt', () => {
    const found = (script: ScriptedRun) => script.findings().find(({ check }) => check === 'cognitive-decay');
    expect(found(bad(good(run(), 30, short), 12, long).user())?.until).toBeNull();
    const compacted = { kind: 'compacted', trigger: 'manual', tokensBefore: null, tokensAfter: null } as const;
    expect(found(bad(good(run(), 30, short), 12, long).add(compacted))?.until).not.toBeNull();
  });
});
