// Nothing is done about what no ground stands under, whatever else the policy has for it.
import { describe, expect, it, vi } from 'vitest';
import { agentView } from '../../test/runs/agent-view.ts';
import { checkNames } from '../detect/checks.ts';
import type { Incident } from '../model/incident.ts';
import { nextStep } from './policy.ts';
import { mayBeActedOn } from './worth.ts';

vi.mock('./worth.ts', async (original) => ({ ...(await original<object>()), mayBeActedOn: () => false }));

const minute = 60_000;
const facts = {
  ...{
    nowMs: 100 * minute,
    isFound: true,
    minIntervalMs: 5 * minute,
    rateLimitBackoffMs: minute,
    repeatMs: 30 * minute,
  },
  ...{ lastAgentPromptMs: null, lastProjectPromptMs: null, isUnproved: false },
};

describe('a check without a ground', () => {
  it.each(checkNames)('is shown and no more: %s', (check) => {
    expect(mayBeActedOn(check)).toBe(false);
    const given = { agent: 'a-ps', check, subject: 'silent-stop:x', openedMs: 0, closedMs: null, ackedMs: null };
    const incident = { ...given, prompts: 0, lastPromptMs: null, tells: 0, lastTellMs: null } as Incident;
    for (const view of [agentView('idle', null, 5), agentView('ended', null, 5), null])
      expect(nextStep(incident, view, facts)).toMatchObject({ do: 'wait', for: null });
  });
});
