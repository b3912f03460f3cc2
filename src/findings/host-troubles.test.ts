import { describe, expect, it } from 'vitest';
import { agentView } from '../../test/runs/agent-view.ts';
import { emptyStore, madeBoard } from '../../test/runs/made-board.ts';
import { defaultConfig } from '../config/schema.ts';
import type { HostSigns } from '../detect/host-troubles.ts';
import type { CheckName } from '../model/check.ts';
import type { Incident } from '../model/incident.ts';
import { ok } from '../model/result.ts';
import { HostFindings } from './host-findings.ts';

const well: HostSigns = { database: null, disk: null, servers: [] };
const away: HostSigns = { ...well, database: 'gone' };

class Host {
  monotonicMs = 0;
  nowMs = 1_000_000;
  readonly #clock = { nowMs: () => this.nowMs, monotonicMs: () => this.monotonicMs };
  #board = madeBoard({ clock: this.#clock });
  #findings = this.#started();

  #started(): HostFindings {
    return new HostFindings({
      host: 'h',
      hostName: 'h',
      clock: this.#clock,
      config: defaultConfig,
      board: this.#board,
    });
  }

  /** With an earlier run's incident about this. */
  async restart(check: CheckName): Promise<void> {
    const incident = { id: 'i', agent: null, project: 'h', check, subject: null, text: '' } as Incident;
    const store = { ...emptyStore, openIncidents: async () => ok([incident]) };
    this.#board = madeBoard({ clock: this.#clock, store });
    await this.#board.restore();
    this.#findings = this.#started();
  }

  look(signs: HostSigns, views = [agentView('idle', null, 1, { agent: 'a' })]): string[] {
    this.#findings.look(views, signs);
    return this.#board.loose().flatMap(({ finding }) => (finding.standing === 'seen' ? [finding.check] : []));
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

  it('at once where an earlier run had told it: it is the same trouble', async () => {
    const host = new Host();
    await host.restart('database-away');
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
