import { expect, it } from 'vitest';
import { authorityFor } from '../config/match.ts';
import { defaultConfig } from '../config/schema.ts';
import { readRequest } from '../daemon/requests/read.ts';
import { whyNotAllowed } from '../decide/gate.ts';
import { storedRows, storedView } from '../record/agent-row.ts';
import type { Authority, Mode } from './agent.ts';

const odd = ['root', 'MANAGE', 'manage ', '', '__proto__', 'constructor', null, undefined, 2, ['manage'], {}];

const now = new Date();
const texts = { project: 'p', client: 'claude-code', client_version: null, host: 'h', host_name: null, cwd: null };
const place = { tmux_socket: null, tmux_session: null, tmux_pane: null };
const times = { started_at: now, state_since: now, last_seen: now, last_activity: null, last_turn_at: null };
const context = { context_used: null, context_window: null, context_usable: null, context_source: null };
const band = { context_at: null, context_band: null, context_band_since: null };
const rest = { detail: null, source: 'registry', confidence: 1, tool: null, model: null, cost_usd: null };
const turn = { last_turn: null, error: null, background: [], session_id: null };
const row = { id: '1', name: 'a', boot_id: 'b', pid: 7, start_ticks: '1', ...texts, ...place, ...times };
const agent = { ...row, ...context, ...band, ...rest, ...turn };

function read(authority: unknown, state: unknown) {
  return storedRows([{ ...agent, authority, state }], () => {}).map(storedView);
}

it.each(odd)('an authority, mode or state of %j counts as the least', (value) => {
  expect(read(value, value).map((view) => [view.authority, view.reading.state])).toEqual([['observe', 'unknown']]);
  const open = { mode: 'act', paused: false, starting: false, authority: 'manage', hold: 'ours' } as const;
  expect(whyNotAllowed('nudge', { ...open, authority: value as Authority })).toBe('authority');
  expect(whyNotAllowed('nudge', { ...open, mode: value as Mode })).toBe('watch-mode');
  const agents = [{ match: '*', authority: 'manage' as const }];
  const project = { ...defaultConfig(), agents, projectAgents: [{ match: '*', authority: value as Authority }] };
  expect(whyNotAllowed('nudge', { ...open, authority: authorityFor(project, 'a', true) })).toBe('authority');
  expect(readRequest(JSON.stringify({ ask: 'authority', agent: 'a', authority: value })).ok).toBe(false);
});

it('what is known stays what it is', () => {
  for (const authority of ['observe', 'nudge', 'manage'])
    for (const state of ['working', 'idle', 'waiting', 'retrying', 'limited', 'compacting', 'ended', 'unknown'])
      expect(read(authority, state).map((view) => [view.authority, view.reading.state])).toEqual([[authority, state]]);
});
