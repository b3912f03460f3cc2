import { describe, expect, it } from 'vitest';
import { minute, run, type ScriptedRun } from '../../../test/runs/scripted-run.ts';
import { untrusted } from '../../model/text.ts';

const warm = { input: 10, cacheRead: 50_000, cacheCreate: 800, output: 300 };
const cold = { input: 10, cacheRead: 0, cacheCreate: 50_000, output: 300 };

/** Requests with a new step each. */
function requests(r: ScriptedRun, n: number, usage: object, model?: string): ScriptedRun {
  return r.times(n, (one, turn) =>
    one.takes(usage, model).bash(`cat ${turn}-${one.events.length}`, `text ${one.events.length}`),
  );
}

const healthy: [string, ScriptedRun][] = [
  ['a cache that is read', requests(run(), 30, warm)],
  ['the first request of a conversation', requests(requests(run(), 1, cold), 20, warm)],
  [
    'pauses longer than the cache lives',
    run().times(12, (r) => requests(r.wait(6 * minute).user(), 1, cold).says('done', true)),
  ],
  ['one request after every compaction', run().times(12, (r) => compacted(requests(r, 1, cold)))],
  ['another model every time', run().times(20, (r, turn) => requests(r, 1, cold, `m${turn}`))],
  ['a context too short to be cached', requests(run(), 30, { input: 3_000, cacheCreate: 0, output: 100 })],
  ['a client that reports no cache at all', requests(run(), 30, { input: 50_000, output: 300 })],
  ['one record of a message again and again', sameMessage()],
  ['figures that cannot be', requests(run(), 30, { input: 1, cacheCreate: 1e12 })],
];

function compacted(r: ScriptedRun): ScriptedRun {
  return r.add({ kind: 'compacted', trigger: 'manual', tokensBefore: null, tokensAfter: null });
}

function sameMessage(): ScriptedRun {
  const usage = { input: 10, cacheRead: 0, cacheCreate: 50_000, output: 1 };
  return run()
    .takes(warm)
    .times(30, (r) =>
      r.add({ kind: 'reply', model: 'm', messageId: 'one', usage, ends: false, text: untrusted('a part') }),
    );
}

describe('low-cache', () => {
  it.each(healthy)('raises nothing for %s', (_, script) => expect(script.found()).not.toContain('low-cache'));
  it('raises a cache that is written again and again instead of read', () => {
    const script = requests(run(), 12, cold);
    expect(script.found()).toContain('low-cache');
    expect(script.findings().find(({ check }) => check === 'low-cache')?.text).toBe(
      '0 % of the input of the last 8 requests came from the cache',
    );
  });
  it('is over when it is read again, and not by a prompt', () => {
    const found = (script: ScriptedRun) => script.findings().find(({ check }) => check === 'low-cache');
    expect(found(requests(run(), 12, cold).user())?.until).toBeNull();
    expect(found(requests(requests(run(), 12, cold), 20, warm))?.until).not.toBeNull();
  });
});
