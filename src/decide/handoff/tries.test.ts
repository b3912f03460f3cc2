import { describe, expect, it } from 'vitest';
import type { Handoff } from '../../model/handoff.ts';
import { whyNotYet } from './tries.ts';

const pauseMs = 60_000;

function failed(reason: string, atMs: number, changes: Partial<Handoff> = {}): Handoff {
  return {
    id: reason,
    host: 'h',
    agent: 'a-ps',
    project: 'a',
    trigger: 'rule:at-percent',
    by: 'rule',
    recipe: 'document',
    nonce: 'n',
    file: '/p/f.md',
    cwd: '/p',
    oldSession: 'old',
    newSession: null,
    requestedMs: atMs - 1_000,
    steps: [
      { step: 'requested', atMs: atMs - 1_000, reason: null },
      { step: 'failed', atMs, reason },
    ],
    sha256: null,
    sentBack: 0,
    acked: false,
    ...changes,
  };
}

describe('after a failure a rule waits longer each time, and three times at most', () => {
  it.each<[string, Handoff[], number, string | null]>([
    ['none yet', [], 0, null],
    ['another session', [failed('poor', 0, { oldSession: 'other' })], 1, null],
    ['one, at once', [failed('poor', 0)], pauseMs - 1, 'pause'],
    ['one, after the pause', [failed('poor', 0)], pauseMs, null],
    ['two, after the first pause', [failed('poor', 0), failed('dialog', 0)], pauseMs, 'pause'],
    ['two, after the second pause', [failed('poor', 0), failed('dialog', 0)], 2 * pauseMs, null],
    ['three', [failed('poor', 0), failed('poor', 0), failed('poor', 0)], 1e12, 'tried-enough'],
    ['what a person began is no try of a rule', Array(3).fill(failed('poor', 0, { trigger: 'human' })), pauseMs, null],
    ['what somebody else changed is no try', Array(5).fill(failed('session-changed', 0)), pauseMs, null],
    ['watch mode: once on record', [failed('watch-mode', 0)], 1e12, 'tried-enough'],
  ])('%s', (_name, handoffs, nowMs, expected) => expect(whyNotYet(handoffs, 'old', pauseMs, nowMs)).toBe(expected));
});
