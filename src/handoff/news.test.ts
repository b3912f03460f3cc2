import { describe, expect, it } from 'vitest';
import { did } from '../../test/runs/handoff-cases.ts';
import type { AgentView } from '../model/agent.ts';
import type { Handoff, HandoffStep } from '../model/handoff.ts';
import { Cycle } from './cycle.ts';
import { failureFinding, newsOf, stuckFinding } from './news.ts';

const t0 = 1_000_000;
const deadlineMs = 60_000;
const view = { agent: 'a-ps', client: 'claude-code', sessionId: 'new', reading: { state: 'idle' } } as AgentView;

function handoff(id: string, step: HandoffStep, changes: Partial<Handoff> = {}): Handoff {
  const steps = [
    { step: 'requested' as const, atMs: t0, reason: null },
    { step, atMs: t0 + 1_000, reason: step === 'failed' ? 'not-confirmed' : null },
  ];
  const about = {
    host: 'h',
    agent: 'a-ps',
    project: 'a',
    trigger: 'human' as const,
    by: null,
    recipe: 'document',
    nonce: 'n',
    cwd: '/p',
  };
  const sessions = { oldSession: 'old', newSession: 'new', requestedMs: t0, steps };
  return { id, ...about, ...sessions, file: '/p/h.md', sha256: 'abc', sentBack: 0, acked: false, ...changes };
}

describe('a failed handoff concerns a human until one says so, or a later one is done', () => {
  const failed = handoff('h1', 'failed');
  it.each<[string, Handoff[], boolean]>([
    ['it failed', [failed], true],
    ['acknowledged', [{ ...failed, acked: true }], false],
    ['a later one is done', [failed, handoff('h2', 'done', { newSession: 'newer' })], false],
    [
      'a later one could not begin',
      [failed, handoff('h2', 'failed', { steps: [{ step: 'failed', atMs: t0, reason: 'ended' }] })],
      true,
    ],
    ['the one of another agent is done', [failed, handoff('h2', 'done', { agent: 'b-ps' })], true],
    ['it is in another session by now', [{ ...failed, oldSession: 'x', newSession: 'y' }], false],
  ])('%s', (_name, over, expected) => expect(failureFinding(over, view) !== null).toBe(expected));

  it('and reads where the document is, which session it was, and what to do', () => {
    const text = failureFinding([failed], view)?.evidence[0]?.text ?? '';
    for (const part of ['/p/h.md', 'handoff h1', 'session before: old', '/resume old', 'watchkeeper handoffs a-ps'])
      expect(text).toContain(part);
  });
});

describe('a cleared agent that does not get its resume prompt', () => {
  it('because nothing could even be tried', () => {
    const cycle = new Cycle(handoff('h1', 'cleared'), 0);
    cycle.move = { do: 'wait', reason: 'authority' };
    cycle.waitsSinceMs = t0 + 1_000;
    expect(stuckFinding(cycle, 'claude-code', deadlineMs, t0 + 1_000 + deadlineMs - 1)).toBeNull();
    expect(stuckFinding(cycle, 'claude-code', deadlineMs, t0 + 1_000 + deadlineMs)).not.toBeNull();
  });
  function stuck(step: HandoffStep, outcomes: string[], ageMs: number) {
    const cycle = new Cycle(handoff('h1', step), 0);
    cycle.actions = outcomes.map((outcome, n) => ({
      id: String(n),
      deed: 'resume',
      after: 2,
      why: null,
      atMs: t0 + 2_000 + n,
      outcomes: outcome === 'open' ? [] : [{ outcome, reason: 'draft' }],
      typed: 'read it',
    }));
    return stuckFinding(cycle, 'claude-code', deadlineMs, t0 + 1_000 + ageMs);
  }
  it.each<[string, HandoffStep, string[], number, boolean]>([
    ['refused past the deadline', 'cleared', ['refused'], deadlineMs, true],
    ['and being tried again', 'cleared', ['refused', 'open'], deadlineMs, true],
    ['before the deadline', 'cleared', ['refused'], deadlineMs - 1, false],
    ['not tried', 'cleared', [], deadlineMs, false],
    ['on its way', 'cleared', ['open'], deadlineMs, false],
    ['resumed', 'resumed', ['refused', 'confirmed'], deadlineMs, false],
  ])('%s', (_name, step, outcomes, ageMs, expected) => expect(stuck(step, outcomes, ageMs) !== null).toBe(expected));
  it('tells why, and the way out', () =>
    expect(stuck('cleared', ['refused'], deadlineMs)?.evidence[0]?.text).toMatch(/refused \(draft\).*\/resume old/));
});

it('the row of its end names what was done for it, each by its id in the ledger, and nothing that was refused', () => {
  const actions = [did('ask', 'done', 1), did('interrupt', 'draft', 2), did('clear', 'uncertain', 5)];
  const { check } = newsOf(handoff('h1', 'failed'), 'f', actions);
  expect(check).toMatchObject({ type: 'handoff', status: 'critical', details: { finding: 'f' } });
  expect(check?.taken).toBe('asked for a document: confirmed, action ask1; cleared context: uncertain, action clear5');
});
