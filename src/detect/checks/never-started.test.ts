import { describe, expect, it } from 'vitest';
import { agentView as view, viewNowMs } from '../../../test/runs/agent-view.ts';
import { looked } from '../../../test/runs/looked.ts';
import type { AgentView, Detail } from '../../model/agent.ts';
import { neverStarted } from './never-started.ts';

const nothing = { sessionId: null, transcript: null, lastActivityMs: null };
const silent = (minutes: number, detail: Detail | null = 'unreadable', more: Partial<AgentView> = {}) =>
  view('unknown', detail, minutes, { ...nothing, ...more });

const healthy: [string, AgentView][] = [
  ['one that has just been started', silent(4)],
  ['one at its prompt that nobody has prompted', view('idle', null, 600, { transcript: null, lastActivityMs: null })],
  ['one at a setup screen', view('waiting', 'setup', 600, nothing)],
  ['one at work that cannot be read any more', silent(60, 'unreadable', { sessionId: 's', transcript: '/t' })],
  ['one stopped with Ctrl-Z', silent(60, 'suspended')],
  ['one that has shown a sign of life', silent(60, 'unreadable', { lastActivityMs: 1 })],
  ['one that has ended', view('ended', null, 60, nothing)],
  ['one that was seen in another state a minute ago', silent(1, 'unreadable', { startedAtMs: viewNowMs - 3_600_000 })],
];

describe('never-started', () => {
  it.each(healthy)('raises nothing for %s', (_, given) => expect(looked(neverStarted, given)).toBeNull());
  it('raises a process of which nothing could ever be read', () =>
    expect(looked(neverStarted, silent(6))).toBe('its process lives for 6 min, and no session has begun'));
});
