import { describe, expect, it } from 'vitest';
import { agentView } from '../../test/runs/agent-view.ts';
import { defaultConfig } from '../config/schema.ts';
import type { HostSigns } from '../detect/host-troubles.ts';
import { HostTroubles } from './host-troubles.ts';

const well: HostSigns = { database: null, disk: null, servers: [] };
const away: HostSigns = { ...well, database: 'gone' };

class Host {
  monotonicMs = 0;
  nowMs = 1_000_000;
  isOpen = false;
  readonly #troubles = new HostTroubles({
    clock: { nowMs: () => this.nowMs, monotonicMs: () => this.monotonicMs },
    config: defaultConfig,
    isOpen: () => this.isOpen,
  });

  look(signs: HostSigns, views = [agentView('idle', null, 1, { agent: 'a' })]): string[] {
    return this.#troubles.look(views, signs).map(({ check }) => check);
  }

  pass(ms: number): void {
    this.monotonicMs += ms;
    this.nowMs += ms;
  }
}

describe('what Watchkeeper stands on is told', () => {
  it('once it is away for half a minute, and no longer once it is back', () => {
    const host = new Host();
    expect(host.look(away)).toEqual([]);
    host.pass(29_000);
    expect(host.look(away)).toEqual([]);
    host.pass(1_000);
    expect(host.look(away)).toEqual(['database-away']);
    expect(host.look(well)).toEqual([]);
    expect(host.look(away)).toEqual([]);
  });

  it('not by a clock that is set, ahead or back', () => {
    const host = new Host();
    host.look(away);
    host.nowMs += 40 * 86_400_000;
    expect(host.look(away)).toEqual([]);
    host.nowMs -= 80 * 86_400_000;
    host.monotonicMs += 30_000;
    expect(host.look(away)).toEqual(['database-away']);
  });

  it('at once where an earlier run had told it: it is the same trouble', () => {
    const host = new Host();
    host.isOpen = true;
    expect(host.look(away)).toEqual(['database-away']);
  });

  it('of a tmux server, as long as an agent that was in it goes on', () => {
    const host = new Host();
    const tmux = { socket: '/s', session: 'a', pane: '%1' };
    const agent = (more: object) => [agentView('idle', null, 1, { agent: 'a', ...more })];
    host.look({ ...well, servers: [{ socket: '/s', failure: null }] }, agent({ tmux }));
    const gone: HostSigns = { ...well, servers: [{ socket: '/s', failure: 'gone' }] };
    host.look(gone, agent({ tmux: null }));
    host.pass(30_000);
    expect(host.look(gone, agent({ tmux: null }))).toEqual(['tmux-away']);
    expect(host.look(gone, [agentView('ended', null, 1, { agent: 'a', tmux: null })])).toEqual([]);
  });
});
