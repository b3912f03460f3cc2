// Scenarios for the health checks: a model that does one thing on the real client, and what `health` says of it meanwhile.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ModelReply } from '../../src/clients/claude-code/conform/model-script.ts';
import { withMore } from '../../src/conform/until.ts';
import type { HealthDocument } from '../../src/daemon/status.ts';
import { type Agent, type LaunchOptions, launchAgent } from './agent.ts';
import { type Scenario, scenario } from './scenario.ts';
import { Watching } from './watching.ts';

type Finding = HealthDocument['findings'][number];

/** Nobody acts, so that what is found stays as it is. */
export function judging(body: (j: Judging) => Promise<void>, settings: Record<string, unknown> = {}) {
  return scenario(async (s) => {
    const watch = new Watching(s);
    const config = path.join(s.home, 'config.yaml');
    writeFileSync(config, JSON.stringify({ mode: 'watch', tickSeconds: 0.5, ...settings }));
    try {
      await watch.start([], { WATCHKEEPER_CONFIG: config });
      await body(new Judging(s, watch));
    } finally {
      watch.stop();
    }
  });
}

export class Judging {
  readonly scenario: Scenario;
  readonly watch: Watching;

  constructor(s: Scenario, watch: Watching) {
    this.scenario = s;
    this.watch = watch;
  }

  /** At its prompt, with leave to use the tools of these scenarios. */
  async agent(session: string, options: Partial<LaunchOptions> = {}): Promise<Agent> {
    const agent = await launchAgent({
      scenario: this.scenario,
      session,
      extraSettings: { permissions: { allow: ['Bash', 'Edit', 'Read', 'Write'] } },
      ...options,
    });
    await agent.waitReady();
    await this.watch.expect(session, 'idle', Date.now(), 30_000);
    return agent;
  }

  /** The finding, as soon as `health` has it. */
  raised(agent: Agent, check: string, ms = 60_000): Promise<Finding> {
    return this.scenario
      .until(`${check} in the health of ${agent.session}`, () => this.#finding(agent, check), ms)
      .catch(withMore(async () => `said: ${this.watch.told(agent.session)}, raised: ${await this.ever(agent)}`));
  }

  async healthy(agent: Agent): Promise<void> {
    const look = async () => ((await this.#health(agent))?.findings.length === 0 ? true : null);
    await this.scenario.until(`${agent.session} healthy`, look, 30_000);
  }

  /** The turn is over, and the supervisor has read it to its end. */
  async finished(agent: Agent, ms: number): Promise<void> {
    await this.watch.turn(agent.session, 'ok', ms);
    await this.watch.expect(agent.session, 'idle', Date.now(), 30_000);
  }

  /** Every check that ever found something in it, by the rows on record up to the state that was told last. */
  async ever(agent: Agent): Promise<string[]> {
    const told = this.watch.said.filter((said) => said.agent === agent.session && said.kind === 'state').at(-1);
    const toldMs = Date.parse(told?.at ?? '');
    const look = async () => {
      const { stdout } = await this.scenario.watchkeeper(['db', 'export']);
      const all = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Exported);
      return all.some(
        ({ table, row }) => table === 'events' && row.kind === 'state' && Date.parse(String(row.at)) === toldMs,
      )
        ? all
        : null;
    };
    const rows = await this.scenario.until('the last state on record', look, 30_000);
    const raised = rows
      .filter(({ table, row }) => table === 'health_checks' && `${row.project}-ps` === agent.session)
      .filter(({ row }) => row.status === 'warning' || row.status === 'critical');
    return [...new Set(raised.map(({ row }) => String(row.check_type)))];
  }

  async #finding(agent: Agent, check: string): Promise<Finding | null> {
    return (await this.#health(agent))?.findings.find((finding) => finding.check === check) ?? null;
  }

  async #health(agent: Agent): Promise<HealthDocument | null> {
    const asked = await this.scenario.watchkeeper(['health', agent.session, '--json']);
    return asked.stdout === '' ? null : asked.json<HealthDocument>();
  }
}

interface Exported {
  table: string;
  row: Record<string, unknown>;
}

export const bash = (command: string, more: ModelReply = {}): ModelReply => ({
  tools: [{ name: 'Bash', input: { command, description: 'work' } }],
  ...more,
});
