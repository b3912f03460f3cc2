import { expect, it } from 'vitest';
import { whyNotAllowed } from '../decide/gate.ts';
import { type AgentRecord, storedView } from '../record/agent-row.ts';
import { authorityFor } from '../run/config/match.ts';
import { defaultConfig } from '../run/config/schema.ts';
import { parseRequest } from '../run/requests.ts';
import type { Authority, Mode } from './agent.ts';
import { knownAuthority, knownState } from './authority.ts';

const odd = ['root', 'MANAGE', 'manage ', '', '__proto__', 'constructor', null, undefined, 2, ['manage'], {}];

it.each(odd)('an authority, mode or state of %j counts as the least', (value) => {
  expect(knownAuthority(value)).toBe('observe');
  expect(knownState(value)).toBe('unknown');
  const open = { mode: 'act', paused: false, authority: 'manage', hold: 'ours' } as const;
  expect(whyNotAllowed('nudge', { ...open, authority: value as Authority })).toBe('authority');
  expect(whyNotAllowed('nudge', { ...open, mode: value as Mode })).toBe('watch-mode');
  const row = {
    authority: value,
    state: value,
    background: [],
    context_used: null,
    context_band: null,
    started_at: new Date(),
    state_since: new Date(),
  };
  const view = storedView({
    ...row,
    last_seen: new Date(),
    tmux_socket: null,
    last_activity: null,
    last_turn_at: null,
  } as unknown as AgentRecord);
  expect([view.authority, view.reading.state]).toEqual(['observe', 'unknown']);
  const agents = [{ match: '*', authority: 'manage' as const }];
  const project = { ...defaultConfig(), agents, projectAgents: [{ match: '*', authority: value as Authority }] };
  expect(
    whyNotAllowed('nudge', { ...open, authority: authorityFor(project, 'a', { launchedByUs: true, inTmux: true }) }),
  ).toBe(value == null ? null : 'authority');
  expect(parseRequest(JSON.stringify({ ask: 'authority', agent: 'a', authority: value })).ok).toBe(false);
});

it('what is known stays what it is', () => {
  for (const authority of ['observe', 'nudge', 'manage']) expect(knownAuthority(authority)).toBe(authority);
  for (const state of ['working', 'idle', 'waiting', 'retrying', 'limited', 'compacting', 'ended', 'unknown'])
    expect(knownState(state)).toBe(state);
});
