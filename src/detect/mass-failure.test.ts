import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentView, viewNowMs } from '../../test/runs/agent-view.ts';
import type { AgentView } from '../model/agent.ts';
import type { CheckName } from '../model/check.ts';
import { massFailures } from './mass-failure.ts';

const limits = { agents: 3, percent: 30, withinMs: 5 * 60_000 };

function agent(name: string, check: CheckName | null, minutesAgo = 1, more: Partial<AgentView> = {}): AgentView {
  const sinceMs = viewNowMs - minutesAgo * 60_000;
  const finding = {
    id: name,
    subject: null,
    severity: 'warning' as const,
    confidence: 1,
    sinceMs,
    evidence: [],
    action: null,
    slots: null,
    standing: 'seen' as const,
    ...{ prompts: 0, tells: 0, ackedMs: null },
  };
  const findings = check === null ? [] : [{ ...finding, check }];
  return agentView(check === 'ended-unexpectedly' ? 'ended' : 'idle', null, minutesAgo, {
    agent: name,
    findings,
    ...more,
  });
}

const many = (n: number, check: CheckName | null, minutesAgo = 1, more: Partial<AgentView> = {}) =>
  Array.from({ length: n }, (_, place) => agent(`${check}${minutesAgo}-${place}`, check, minutesAgo, more));
const found = (views: AgentView[]) => massFailures(views, limits).map(({ finding }) => finding.evidence[0]?.text);

describe('many agents in the same trouble at once', () => {
  it.each<[string, AgentView[]]>([
    ['healthy agents', many(20, null)],
    ['two of three', [...many(2, 'ended-unexpectedly'), agent('x', null)]],
    ['three of twenty', [...many(3, 'silent-stop'), ...many(17, null)]],
    [
      'three troubles of different kinds',
      [agent('a', 'silent-stop'), agent('b', 'stalled-turn'), agent('c', 'ended-unexpectedly')],
    ],
    ['three ends on three days', [1, 2, 3].flatMap((day) => many(1, 'ended-unexpectedly', day * 24 * 60))],
    ['agents that each wait for a person', many(6, 'waiting-human')],
    ['agents that each have a full context', many(6, 'context-full')],
    ['agents parked at the same limit', many(6, 'rate-limited')],
    [
      'errors of different kinds',
      ['server_error', 'overloaded', 'unknown'].map((errorKind) => agent(errorKind, 'silent-stop', 1, { errorKind })),
    ],
    [
      'the agents of yesterday that ended together with one today',
      [...many(2, 'ended-unexpectedly', 24 * 60), ...many(1, 'ended-unexpectedly'), ...many(4, null)],
    ],
  ])('is not: %s', (_, views) => expect(found(views)).toEqual([]));

  it('is one finding, with who', () =>
    expect(found([...many(7, 'ended-unexpectedly'), agent('x', null)])).toEqual([
      '7 of 8 agents at once: ended-unexpectedly: ended-unexpectedly1-0, ended-unexpectedly1-1, ended-unexpectedly1-2, ended-unexpectedly1-3, ended-unexpectedly1-4 and 2 more',
    ]));
  it('is known by the more exact name of a trouble that has two', () => {
    const views = many(3, 'silent-stop').map((view, place) => ({
      ...view,
      findings: [...view.findings, ...agent(`${place}`, 'auth-failed').findings],
    }));
    expect(massFailures(views, limits).map(({ check }) => check)).toEqual(['auth-failed']);
  });
  it('is over when too few are left in it', () => {
    const views = many(3, 'silent-stop');
    expect(massFailures(views, limits)).toHaveLength(1);
    expect(massFailures([...views.slice(1), agent('back', null)], limits)).toEqual([]);
  });
  it('names only agents in that trouble, whatever there is', () => {
    const checks: (CheckName | null)[] = ['ended-unexpectedly', 'silent-stop', 'waiting-human', 'auth-failed', null];
    const one = fc.record({ check: fc.constantFrom(...checks), ago: fc.double(), kind: fc.string() });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 20 }), (given) => {
        const views = given.map(({ check, ago, kind }, place) => agent(`${place}`, check, ago, { errorKind: kind }));
        for (const { check, agents } of massFailures(views, limits)) {
          expect(agents.length).toBeGreaterThanOrEqual(limits.agents);
          for (const name of agents) expect(views[Number(name)]?.findings[0]?.check).toBe(check);
        }
      }),
    );
  });
});
