import { describe, expect, it } from 'vitest';
import { agentView, viewNowMs } from '../../test/runs/agent-view.ts';
import { claudeCode } from '../clients/claude-code/client.ts';
import type { AgentView, CheckName } from '../model/agent.ts';
import { Counters } from '../model/counters.ts';
import type { StoredAgent } from '../model/store.ts';
import type { Files, Processes, ProcessInfo } from '../model/world.ts';
import type { SeenAgent, Sweep } from '../sense/fleet.ts';
import { defaultConfig } from './config/schema.ts';
import { Watcher } from './watcher.ts';

const config = defaultConfig();
const socket = '/tmp/tmux-1/default';
const process: ProcessInfo = {
  ...{ bootId: 'b', pid: 7, startTicks: '70', ppid: 1, uid: 1, command: 'claude', runState: 'S' },
  ...{ processGroup: 7, terminalGroup: 7 },
};
const pane = { id: '%3', session: 'api-ps', windowIndex: 0, paneIndex: 0, pid: 6, dead: false };
/** With the user's own config directory, by whose registry it is found without tmux too. */
const byRegistry: SeenAgent = { client: claudeCode, process, configDir: '/home/u/.claude', place: null };
const inPane: SeenAgent = { ...byRegistry, place: { socket, pane } };
const answers: Sweep['servers'][number] = { socket, panes: 1, failure: null };
const hangs: Sweep['servers'][number] = { socket, panes: null, failure: 'hung' };

/** A watcher in a world without files, where one process lives; `open`: the checks with an open incident. */
function watching(open: readonly CheckName[] = []) {
  const files: Files = {
    info: () => null,
    list: () => null,
    readSmall: () => ({ ok: false, reason: 'missing' }),
    readAt: () => ({ ok: false, reason: 'missing' }),
    watch: () => null,
  };
  const processes: Processes = {
    bootId: 'b',
    uid: 1,
    info: (pid) => (pid === process.pid ? process : null),
    exists: (pid) => pid === process.pid,
    children: () => [],
    executable: () => null,
    arguments: () => null,
    directory: () => null,
    environment: () => null,
    startedAtMs: () => viewNowMs - 60_000,
  };
  let sweep: Sweep = { agents: [], servers: [] };
  const watcher = new Watcher({
    host: 'h',
    clients: [claudeCode],
    fleet: { sweep: async () => sweep, capture: async () => null, close: () => {} } as never,
    inbox: { dir: '/none', look: () => false, hasFor: () => false, claim: () => [] } as never,
    processes,
    files,
    clock: { nowMs: () => viewNowMs, monotonicMs: () => viewNowMs },
    counters: new Counters(),
    config: () => config,
    record: () => {},
    congested: () => false,
    changed: () => {},
    failed: (error) => {
      throw error;
    },
    told: () => {},
    hooked: () => {},
    broken: () => new Set(),
    authority: (_agent, inTmux) => (inTmux ? 'manage' : 'observe'),
    unansweredSince: () => null,
    idFor: (agent, check) => `${agent}/${check}`,
    isOpen: (_agent, check) => open.includes(check),
    spawned: () => {},
  });
  return {
    watcher,
    async tick(agents: SeenAgent[], servers: Sweep['servers']) {
      sweep = { agents, servers };
      await watcher.tick();
      return watcher.views()[0];
    },
  };
}

const stored = (view: AgentView): StoredAgent => ({ view, hooks: [], recorded: new Map() });
const { bootId, pid, startTicks } = process;
const before = (more: Partial<AgentView>) =>
  agentView('idle', null, 5, { agent: 'api-ps', process: { bootId, pid, startTicks }, ...more });

describe('an agent whose tmux server hangs', () => {
  const place = { socket, session: 'api-ps', pane: '%3' };

  it.each<[string, SeenAgent[]]>([
    ['found by its registry alone', [byRegistry]],
    ['not found at all', []],
  ])('keeps its place and what may be done to it: %s', async (_how, agents) => {
    const { tick } = watching();
    expect(await tick([inPane], [answers])).toMatchObject({ agent: 'api-ps', tmux: place, authority: 'manage' });
    for (let n = 0; n < 3; n += 1)
      expect(await tick(agents, [hangs])).toMatchObject({ agent: 'api-ps', tmux: place, authority: 'manage' });
    expect(await tick([inPane], [answers])).toMatchObject({ tmux: place, authority: 'manage' });
  });

  it('keeps it over a restart', async () => {
    const { watcher, tick } = watching();
    watcher.restore([stored(before({ tmux: place }))]);
    for (let n = 0; n < 3; n += 1)
      expect(await tick([byRegistry], [hangs])).toMatchObject({ agent: 'api-ps', tmux: place, authority: 'manage' });
  });

  it('loses it when the server answers, and does not have it', async () => {
    const { tick } = watching();
    await tick([inPane], [answers]);
    expect(await tick([byRegistry], [answers])).toMatchObject({ tmux: null, authority: 'observe' });
    expect(await tick([inPane], [answers])).toMatchObject({ tmux: place });
  });

  it('is looked for elsewhere all the same', async () => {
    const { tick } = watching();
    await tick([inPane], [answers]);
    const moved = { ...inPane, place: { socket: '/tmp/tmux-1/other', pane } };
    expect((await tick([moved], [hangs, answers]))?.tmux?.socket).toBe('/tmp/tmux-1/other');
  });
});

describe('an agent that ended before a restart', () => {
  const ended = before({ reading: agentView('ended', null, 5).reading });

  it('is in the trouble that was found at its end while its incident is open', () => {
    const { watcher } = watching(['ended-unexpectedly']);
    watcher.restore([stored(ended)]);
    expect(watcher.views()).toMatchObject([
      {
        agent: 'api-ps',
        findings: [
          {
            id: 'api-ps/ended-unexpectedly',
            check: 'ended-unexpectedly',
            standing: 'seen',
            sinceMs: ended.reading.sinceMs,
          },
        ],
      },
    ]);
  });

  it('is in none when nothing is open', () => {
    const { watcher } = watching([]);
    watcher.restore([stored(ended)]);
    expect(watcher.views()).toMatchObject([{ agent: 'api-ps', findings: [] }]);
  });
});
