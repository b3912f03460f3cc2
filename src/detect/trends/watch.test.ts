import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentView, viewNowMs } from '../../../test/runs/agent-view.ts';
import { judge, run } from '../../../test/runs/scripted-run.ts';
import type { State } from '../../model/agent.ts';
import type { RunEvent } from '../../model/run-event.ts';
import { trendChecks, valuesOf } from '../checks.ts';
import { examine } from '../health.ts';

/** Everything speaks at once. */
const brief = Object.fromEntries(Object.keys(valuesOf()).map((key) => [key, 1 / 60_000]));
const names: string[] = trendChecks.map(({ name }) => name);
const trends = (events: readonly RunEvent[]) =>
  judge(events)
    .map(({ check }) => check)
    .filter((check) => names.includes(check));

/** Forty steps that are all well. */
const healthy = run().times(40, (r, turn) => {
  r.takes({ input: 5, cacheRead: 30_000 + turn * 500, cacheCreate: 400, output: 200 });
  r.bash(`cat ${turn}`, `text ${'n'.repeat(turn + 1)}`);
  if (turn % 5 === 4) r.edit('a.ts', `x${turn}`, `y${turn}`);
}).events;

const garbage = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1, -1e300, 1e300, 1e12);
const damage = fc.record({
  place: fc.nat(healthy.length - 1),
  field: fc.constantFrom('input', 'cacheRead', 'cacheCreate', 'output', 'atMs', 'model', 'twice', 'gone'),
  value: garbage,
});

function damaged(event: RunEvent, field: string, value: number): RunEvent[] {
  const { fact } = event;
  if (field === 'gone') return [];
  if (field === 'twice') return [event, event];
  if (field === 'atMs') return [{ ...event, atMs: value }];
  if (fact.kind !== 'reply' || fact.usage === null) return [event];
  if (field === 'model') return [{ ...event, fact: { ...fact, model: `${value}` } }];
  return [{ ...event, fact: { ...fact, usage: { ...fact.usage, [field]: value } } }];
}

describe('the trends', () => {
  it('say nothing of healthy work, nor of garbage in it', () => {
    expect(trends(healthy)).toEqual([]);
    fc.assert(
      fc.property(fc.array(damage, { maxLength: 30 }), (damages) => {
        const events = healthy.flatMap((event, place) => {
          const hit = damages.find((one) => one.place === place);
          return hit === undefined ? [event] : damaged(event, hit.field, hit.value);
        });
        expect(trends(events)).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('say nothing of a run that only talks about trouble', () => {
    const words = 'API Error: 429 rate limit · Error: token burn, authentication_failed, cost spike, Exit code 1';
    const script = run().times(40, (r, turn) => r.says(words).bash(`cat log${turn}`, `${words} ${'o'.repeat(turn)}`));
    expect(script.found()).toEqual([]);
  });

  it('each says what it looks at, why it is right and how sure it is', () => {
    for (const { evidence, why, confidence } of trendChecks) {
      expect(evidence.length).toBeGreaterThan(10);
      expect(why.length).toBeGreaterThan(30);
      expect(confidence).toBeGreaterThan(0);
      expect(confidence).toBeLessThan(1);
    }
  });
});

it('no check throws, whatever stands in a view', () => {
  const states: State[] = ['working', 'idle', 'waiting', 'retrying', 'limited', 'compacting', 'ended', 'unknown'];
  const time = fc.oneof(garbage, fc.double(), fc.constant(null));
  const view = fc.record({
    state: fc.constantFrom(...states),
    lastTurn: fc.constantFrom('ok', 'failed', 'interrupted', null),
    lastTurnAtMs: time,
    error: fc.oneof(fc.string(), fc.constant(null)),
    errorKind: fc.oneof(fc.string(), fc.constantFrom('rate_limit', '__proto__', null)),
    resetsAtMs: time,
  });
  fc.assert(
    fc.property(view, ({ state, lastTurn, lastTurnAtMs, error, errorKind, resetsAtMs }) => {
      const limits = [{ name: '', percent: 100, resetsAtMs }];
      const given = agentView(state, null, 1, { lastTurn, lastTurnAtMs, error, errorKind, limits });
      const found = examine(
        {
          view: given,
          nowMs: viewNowMs,
          answerMs: 1,
          unansweredSinceMs: null,
          loops: [],
          completion: { signal: 'x', said: false },
          missedSince: () => 0,
        },
        brief,
      );
      expect(found.findings.length + found.fine.length).toBeGreaterThan(15);
    }),
  );
});
