// The real Claude Code for a test: the one installed for tests, and what it writes into its folders.
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  ClientAgent,
  type ClientOptions,
  configDirOf,
  launchClient,
} from '../../src/clients/claude-code/conform/agent.ts';
import { until, withMore } from '../../src/conform/until.ts';
import {
  ClientRecords,
  type RegistryFile,
  recordingStatusLine,
  type StatusLine,
  type Transcript,
} from './client-records.ts';
import { openPty } from './pty.ts';
import type { Scenario } from './scenario.ts';

export { emptyEnvironment } from '../../src/conform/environment.ts';

export interface LaunchOptions extends Omit<ClientOptions, 'world' | 'program' | 'open'> {
  scenario: Scenario;
  terminal?: 'tmux' | 'pty';
  /** Another client than the one installed for all tests. */
  program?: string;
  /** Records what the client tells a status line; see `statusLines()`. */
  statusLine?: boolean;
}

export async function launchAgent({ scenario, terminal, statusLine, ...options }: LaunchOptions): Promise<Agent> {
  const { session, extraSettings } = options;
  const client: ClientOptions = { ...options, world: scenario, program: options.program ?? claudeProgram() };
  if (terminal === 'pty') client.open = (command) => openPty(path.join(scenario.dir, session), command);
  if (statusLine) client.extraSettings = { ...extraSettings, ...recordingStatusLine(configDirOf(client)) };
  const agent = new Agent(await launchClient(client));
  scenario.agents.push(agent);
  return agent;
}

export function claudeProgram(): string {
  const link = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../.clients/claude');
  try {
    return realpathSync(link);
  } catch {
    throw new Error('Claude Code is not installed for tests: npm run clients:install');
  }
}

/** The environment of somebody who has the client: `init` looks for its version on the PATH. */
export const clientOnPath = { PATH: `${path.dirname(claudeProgram())}:${process.env.PATH}` };

export class Agent extends ClientAgent {
  readonly #records: ClientRecords;

  constructor({ session, terminal, folder, model }: ClientAgent) {
    super(session, terminal, folder, model);
    this.#records = new ClientRecords(folder);
  }

  /** Its registry file, also the one a killed client leaves behind. */
  registry(): RegistryFile | null {
    const pid = this.lastPid;
    return pid === null ? null : this.#records.registry(pid);
  }

  transcripts(): Transcript[] {
    return this.#records.transcripts();
  }

  statusLines(): StatusLine[] {
    return this.#records.statusLines();
  }

  async waitStatus(status: string, ms = 30_000): Promise<RegistryFile> {
    const look = () => (this.registry()?.status === status ? this.registry() : null);
    const more = () => `registry: ${JSON.stringify(this.registry())}`;
    return until(`${this.session} ${status}`, look, ms).catch(withMore(more));
  }

  async waitReady(ms = 60_000): Promise<void> {
    await this.waitStatus('idle', ms);
    await this.waitForScreen(/❯/, ms);
  }

  /** Waits until a dialog takes keys: it is drawn half a second after the registry tells of it, and ignores the first ones. */
  async waitDialog(pattern: RegExp, ms = 30_000): Promise<void> {
    await this.waitStatus('waiting', ms);
    await this.waitForScreen(pattern, ms);
    await sleep(400);
  }

  /** Answers a dialog that shows: again as long as it stands, since it ignores the first keys. Says when they were taken. */
  async answer(pattern: RegExp, key: string): Promise<number> {
    let pressedMs = Date.now();
    const isTaken = () => !['waiting', undefined].includes(this.registry()?.status);
    const press = async () => {
      if (isTaken()) return true;
      if (!pattern.test(await this.screen())) return false;
      pressedMs = Date.now();
      await this.keys(key);
      return until(`${key} taken`, isTaken, 1_000).catch(() => false);
    };
    await until(`${key} taken by the dialog ${pattern} of ${this.session}`, press);
    return pressedMs;
  }
}
