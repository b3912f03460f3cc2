// What `watchkeeper` itself says of an agent, and how long after the truth it says so. Only the program is used.
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { until, withMore } from '../../src/conform/until.ts';
import type { AgentDocument } from '../../src/daemon/status.ts';
import { emptyEnvironment } from './agent.ts';
import { type Scenario, scenario, watchkeeperProgram } from './scenario.ts';

interface Said {
  at: string;
  agent: string;
  source: string;
  kind: string;
  data: { [key: string]: unknown };
  /** When this line came out of the program. */
  heardMs: number;
}

export interface Verdict {
  state: string;
  source: string;
  /** From the truth to the program's word. */
  lagMs: number;
  status: AgentDocument;
}

export class Watching {
  readonly said: Said[] = [];
  readonly #scenario: Scenario;
  #follower: ChildProcess | null = null;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
  }

  async start(args: string[] = [], env: Record<string, string> = {}): Promise<void> {
    const up = await this.#scenario.watchkeeper(['up', '--detach', ...args], { env });
    if (up.code !== 0) throw new Error(`up failed with ${up.code}: ${up.stderr}`);
    await this.follow();
  }

  /** Listens to every event; again after a restart of the daemon. */
  async follow(): Promise<void> {
    const { home, watchkeeperHome, tmux } = this.#scenario;
    const env = { ...emptyEnvironment(home), WATCHKEEPER_HOME: watchkeeperHome, TMUX_TMPDIR: tmux.tmpdir };
    this.#follower = spawn(watchkeeperProgram, ['events', '--follow', '--json'], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const output = this.#follower.stdout;
    if (output === null) throw new Error('no output to listen to');
    createInterface({ input: output }).on('line', (line) => {
      this.said.push({ ...(JSON.parse(line) as Omit<Said, 'heardMs'>), heardMs: Date.now() });
    });
    await until('the listener connected', () => isConnected(this.#follower?.pid ?? 0));
  }

  async status(name: string): Promise<AgentDocument | null> {
    const status = await this.#scenario.watchkeeper(['status', '--json']);
    if (status.code !== 0) return null;
    const { agents } = status.json() as { agents: AgentDocument[] };
    return agents.find((agent) => agent.agent === name) ?? null;
  }

  /**
   * Waits for the first word of this state that was said after `truthMs`, or for one said before that still stands,
   * and checks that `status` says the same.
   */
  async expect(name: string, wanted: string, truthMs: number, ms = 30_000): Promise<Verdict> {
    const heard = await until(`${name} seen as ${wanted}`, () => this.#heard(name, wanted, truthMs), ms).catch(
      withMore(() => `said: ${this.told(name)}`),
    );
    const status = await this.status(name);
    const now = status === null ? 'nothing' : label(status.state, status.detail, status.tool);
    if (status === null || now !== wanted)
      throw new Error(`status says ${now}, not ${wanted}\nsaid: ${this.told(name)}`);
    return { state: wanted, source: heard.source, lagMs: Math.max(0, heard.heardMs - truthMs), status };
  }

  /** The turn's end is on record a moment after the client is idle. */
  turn(name: string, end: string, ms = 30_000): Promise<AgentDocument> {
    return until(
      `${name}'s last turn ${end}`,
      async () => {
        const status = await this.status(name);
        return status?.last_turn === end ? status : null;
      },
      ms,
    );
  }

  told(name: string): string {
    return this.said
      .filter((said) => said.agent === name && said.kind === 'state')
      .map((said) => `${said.at.slice(17, 23)} ${stateOf(said)}`)
      .join(', ');
  }

  /** The listener first: it would end with an error of its own when the daemon goes. */
  stop(): void {
    this.#follower?.kill('SIGKILL');
  }

  #heard(name: string, wanted: string, truthMs: number): Said | null {
    const states = this.said.filter((said) => said.agent === name && said.kind === 'state');
    const after = states.find((said) => said.heardMs >= truthMs && stateOf(said) === wanted);
    const standing = states.at(-1);
    return after ?? (standing !== undefined && stateOf(standing) === wanted ? standing : null);
  }
}

function stateOf(said: Said): string {
  return label(said.data.state, said.data.detail, said.data.tool);
}

/** `working/tool Bash`, as the tables have it. */
function label(state: unknown, detail: unknown, tool: unknown): string {
  return `${state}${detail === null ? '' : `/${detail}`}${tool === null || detail !== 'tool' ? '' : ` ${tool}`}`;
}

/** Has it a socket open besides its output? The program says nothing until there is something to say. */
function isConnected(pid: number): boolean {
  try {
    const open = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
    return open.filter((target) => target.startsWith('socket:')).length >= 2;
  } catch {
    return false;
  }
}

/** For `test('…', watched(async (s, watch) => { … }))`: a scenario with the daemon up and listened to. */
export function watched(body: (s: Scenario, watch: Watching) => Promise<void>): () => Promise<void> {
  return scenario(async (s) => {
    const watch = new Watching(s);
    try {
      await watch.start();
      await body(s, watch);
    } finally {
      watch.stop();
    }
  });
}
