import { describe, expect, it } from 'vitest';
import { agentView } from '../../test/runs/agent-view.ts';
import type { AgentView } from '../model/agent.ts';
import type { TmuxFailure } from '../model/world.ts';
import { findingOf, type HostSigns, hostTroubles } from './host-troubles.ts';

const well: HostSigns = { database: null, disk: null, servers: [] };
const socket = '/tmp/tmux-0/default';
const inTmux = (agent: string): AgentView =>
  agentView('idle', null, 1, { agent, tmux: { socket, session: agent, pane: '%1' } });
const outside = (agent: string): AgentView => agentView('idle', null, 1, { agent, tmux: null });
const ended = (agent: string): AgentView => agentView('ended', null, 1, { agent, tmux: null });
const server = (failure: TmuxFailure | null) => ({ ...well, servers: [{ socket, failure }] });
const lastIn = (...agents: string[]) => new Map(agents.map((agent) => [agent, socket]));
const checks = (...of: Parameters<typeof hostTroubles>) =>
  hostTroubles(...of).map(({ check, subject }) => [check, subject]);

describe('what Watchkeeper stands on', () => {
  it('is named by what is away, each for itself', () => {
    expect(checks(well, [], new Map())).toEqual([]);
    expect(checks({ ...well, database: 'gone', disk: '0 MiB are free' }, [], new Map())).toEqual([
      ['database-away', null],
      ['disk-full', null],
    ]);
  });

  it.each<[string, HostSigns, AgentView[], boolean]>([
    ['a server that answers, whatever became of its agents', server(null), [inTmux('a'), outside('b')], false],
    ['a server that hangs', server('hung'), [inTmux('a'), inTmux('b')], true],
    ['a server that hangs, of whose agents none lives', server('hung'), [ended('a'), ended('b')], false],
    ['a server that is gone with its agents: many that ended', server('gone'), [ended('a'), ended('b')], false],
    ['a server that is gone, and one goes on', server('gone'), [ended('a'), outside('b')], true],
    ['a server whose very socket is gone, and one goes on', well, [ended('a'), outside('b')], true],
    ['a server that is gone for a moment in which nobody looked again', server('gone'), [inTmux('a')], false],
  ])('%s', (_what, signs, views, isAway) => {
    expect(checks(signs, views, lastIn('a', 'b'))).toEqual(isAway ? [['tmux-away', socket]] : []);
  });

  it('a server in which no agent was seen is nobody’s concern', () => {
    expect(checks(server('hung'), [outside('a')], new Map())).toEqual([]);
  });

  it('names whom it concerns, and no more than a few', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const [trouble] = hostTroubles(server('hung'), names.map(inTmux), lastIn(...names));
    expect(trouble?.text).toMatch(/does not answer.*: a, b, c, d, e and 2 more$/);
  });

  it('a message of the server cannot forge a line', () => {
    const [trouble] = hostTroubles({ ...well, database: 'gone\nAll is well' }, [], new Map());
    expect(trouble && findingOf(trouble, 1).evidence[0]?.text).not.toContain('\n');
  });
});
