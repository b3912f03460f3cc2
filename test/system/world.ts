// One test's world without a real client: temp folder, tmux server, Watchkeeper home, and stand-ins whose files the
// test writes. All gone afterwards, and proven gone.
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import type { PromptResult } from '../../src/actions/actions.ts';
import { startFakeModel } from '../../src/clients/claude-code/conform/fake-model.ts';
import { Tmux } from '../../src/conform/tmux.ts';
import { until, withMore } from '../../src/conform/until.ts';
import { askControl } from '../../src/daemon/control.ts';
import type { RequestDocument, RequestInput, RequestName } from '../../src/daemon/requests/table.ts';
import type { AgentDocument, StatusDocument } from '../../src/daemon/status.ts';
import { Scenario } from '../clients/scenario.ts';

/** A command answers within this, whatever else is wrong; on a busy machine its own start takes most of it. */
export const answerMs = 10_000;

/** For what has to come true; what takes how long is measured elsewhere. */
export const waitMs = 30_000;

export interface Said {
  code: number;
  stdout: string;
  stderr: string;
  ms: number;
}

interface Check {
  name: string;
  ok: boolean;
  detail: string;
}

/** `idle`, `working/tool`, or whatever the condition says. */
type Wanted = string | ((agent: AgentDocument) => boolean);

function isAsWanted(agent: AgentDocument, wanted: Wanted): boolean {
  const label = agent.detail === null ? agent.state : `${agent.state}/${agent.detail}`;
  return typeof wanted === 'string' ? label === wanted : wanted(agent);
}

export class World {
  readonly scenario: Scenario;
  /** Beside the test's own home, tmux server and data directory. */
  env: Record<string, string> = {};
  #url: string | null = null;

  constructor(scenario: Scenario) {
    this.scenario = scenario;
  }

  get dir(): string {
    return this.scenario.dir;
  }

  get tmux(): Tmux {
    return this.scenario.tmux;
  }

  get dataDir(): string {
    return this.env.WATCHKEEPER_HOME ?? this.scenario.watchkeeperHome;
  }

  async run(...args: string[]): Promise<Said> {
    const beganMs = performance.now();
    const { code, stdout, stderr } = await this.scenario.watchkeeper(args, { env: this.env });
    return { code, stdout, stderr, ms: Math.round(performance.now() - beganMs) };
  }

  async up(...args: string[]): Promise<void> {
    const up = await this.run('up', '--detach', ...args);
    if (up.code !== 0) throw new Error(`up ended with ${up.code}: ${up.stderr}`);
  }

  async down(): Promise<void> {
    const down = await this.run('down');
    if (down.code !== 0) throw new Error(`down ended with ${down.code}: ${down.stderr}`);
  }

  daemonPid(): number {
    return this.#record().pid;
  }

  log(): string {
    return readFileSync(path.join(this.dataDir, 'daemon.log'), 'utf8');
  }

  async status(): Promise<StatusDocument> {
    const status = await this.run('status', '--json');
    if (status.code !== 0) throw new Error(`status ended with ${status.code}: ${status.stderr}`);
    return JSON.parse(status.stdout) as StatusDocument;
  }

  async agent(name: string): Promise<AgentDocument | null> {
    return (await this.status()).agents.find((agent) => agent.agent === name) ?? null;
  }

  /** Waits until the agent is as wanted and the CLI says so. */
  async agentIs(name: string, wanted: Wanted, ms = waitMs): Promise<AgentDocument> {
    let last: AgentDocument | null = null;
    const fits = (agent: AgentDocument | null) => {
      last = agent;
      return agent !== null && isAsWanted(agent, wanted);
    };
    const look = async () => {
      // A look at the socket costs nothing; the word that counts is the program's.
      if (!fits(await this.#glance(name))) return null;
      return fits(await this.agent(name)) ? last : null;
    };
    return until(`${name} is ${wanted}`, look, ms).catch((error: Error) => {
      throw new Error(`${error.message}; agent: ${JSON.stringify(last)}`);
    });
  }

  /** Like `agentIs`, where the time matters: without the program's own start. */
  seen(name: string, wanted: Wanted, ms = waitMs): Promise<AgentDocument> {
    let last: AgentDocument | null = null;
    const look = async () => {
      last = await this.#glance(name);
      return last !== null && isAsWanted(last, wanted) ? last : null;
    };
    return until(`${name} is ${wanted}`, look, ms).catch(withMore(() => `agent: ${JSON.stringify(last)}`));
  }

  async #glance(name: string): Promise<AgentDocument | null> {
    const status = await this.ask({ ask: 'status' });
    return status?.agents.find((agent) => agent.agent === name) ?? null;
  }

  /** Says something to an agent at the daemon's own door, where many tries have to be quick. */
  async say(agent: string, said: string, waitMs = 0): Promise<PromptResult> {
    const result = await this.ask({ ask: 'prompt', agent, said, waitMs, anyway: false });
    if (result === null) throw new Error(`no answer about ${agent}`);
    return result;
  }

  /** At the daemon's own door. */
  async ask<Name extends RequestName>(
    request: { ask: Name } & RequestInput<Name>,
  ): Promise<RequestDocument<Name> | null> {
    const answer = await askControl(this.#record().sockets.control, request, waitMs);
    return answer.ok ? answer.value : null;
  }

  #record(): { pid: number; sockets: { control: string } } {
    return JSON.parse(readFileSync(path.join(this.dataDir, 'daemon.json'), 'utf8'));
  }

  async doctor(): Promise<{ ok: boolean; checks: Map<string, Check> }> {
    const said = await this.run('doctor', '--json');
    const { ok, checks } = JSON.parse(said.stdout) as { ok: boolean; checks: Check[] };
    return { ok, checks: new Map(checks.map((check) => [check.name, check])) };
  }

  /** What `doctor` says was odd in the input: `registry.foreign` → 3. */
  async counters(): Promise<Record<string, number>> {
    const detail = (await this.doctor()).checks.get('input')?.detail ?? '';
    const pairs = detail.split(', ').map((pair) => pair.split(' '));
    return Object.fromEntries(pairs.map(([name = '', count]) => [name, Number(count)]));
  }

  async counter(name: string): Promise<number> {
    const facts = await this.ask({ ask: 'doctor' });
    return facts?.counters[name] ?? 0;
  }

  /** Waits until it stands higher than before. */
  async counterGrows(name: string, before: number): Promise<void> {
    await until(`${name} above ${before}`, async () => (await this.counter(name)) > before, waitMs);
  }

  /** Resident memory of the daemon in MB, now and at its highest. */
  memory(): { now: number; peak: number } {
    const status = readFileSync(`/proc/${this.daemonPid()}/status`, 'utf8');
    const mb = (name: string) => Math.round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1024);
    return { now: mb('VmRSS'), peak: mb('VmHWM') };
  }

  /** One connection for one query, to the database that `db url` names. */
  async query<T extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<T[]> {
    this.#url ??= (await this.run('db', 'url')).stdout.trim();
    const client = new pg.Client({ connectionString: this.#url, connectionTimeoutMillis: 5_000 });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query<T>(sql, values)).rows;
    } finally {
      await client.end();
    }
  }

  /** A second tmux server of the same user, in the same folder. */
  otherTmux(name: string): Tmux {
    const other = new Tmux(this.tmux.tmpdir, {
      PATH: process.env.PATH ?? '/usr/bin:/bin',
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      HOME: this.scenario.home,
    });
    Object.assign(other, { socket: path.join(path.dirname(this.tmux.socket), name) });
    return other;
  }

  end(): Promise<void> {
    return this.scenario.end();
  }
}

export async function openWorld(): Promise<World> {
  return new World(new Scenario(mkdtempSync(path.join(tmpdir(), 'wk-world-')), await startFakeModel()));
}

/** A world that ends with the test. */
export async function testWorld(): Promise<World> {
  const world = await openWorld();
  onTestFinished(() => world.end());
  return world;
}
