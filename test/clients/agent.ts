// Starts the real Claude Code for a test: its own project, config folder and model, and nothing of our environment.
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ClientFolder, prepareClientFolder, type RegistryFile } from './client-folder.ts';
import type { AgentModel, FakeModel } from './fake-model.ts';
import { isRunning, processTree, programOf } from './processes.ts';
import { openPane, openPty, type Terminal } from './terminal.ts';
import type { Tmux } from './tmux.ts';
import { until } from './until.ts';

/** What an agent needs of the scenario it lives in. */
interface World {
  dir: string;
  home: string;
  /** Where the client puts its sockets and the output of background shells. */
  tmp: string;
  tmux: Tmux;
  model: FakeModel;
  agents: Agent[];
}

export interface LaunchOptions {
  scenario: World;
  /** tmux session name, and the name of the agent's model. */
  session: string;
  terminal?: 'tmux' | 'pty';
  shell?: 'direct' | 'bash' | 'sh';
  permissionMode?: 'default' | 'auto' | 'acceptEdits' | 'plan';
  /** A model name the client accepts; its own default otherwise. */
  modelName?: string;
  args?: string[];
  env?: Record<string, string>;
  /** Share one with another agent, or continue in one. */
  configDir?: string;
  project?: string;
  settings?: Record<string, unknown>;
  /** Records what the client tells a status line; see `statusLines()`. */
  statusLine?: boolean;
  trust?: boolean;
  onboarded?: boolean;
  keyApproved?: boolean;
}

export async function launchAgent(options: LaunchOptions): Promise<Agent> {
  const { scenario, session } = options;
  const model = scenario.model.agent(session);
  const folder = prepareClientFolder({
    configDir: options.configDir ?? path.join(scenario.dir, session, 'config'),
    project: options.project ?? path.join(scenario.dir, session, 'project'),
    settings: options.settings ?? {},
    statusLine: options.statusLine ?? false,
    trust: options.trust ?? true,
    onboarded: options.onboarded ?? true,
    keyApproved: options.keyApproved ?? true,
  });
  const program = claudeProgram();
  const argv = [program, '--permission-mode', options.permissionMode ?? 'default', ...(options.args ?? [])];
  if (options.modelName !== undefined) argv.push('--model', options.modelName);
  const env = {
    ...emptyEnvironment(scenario.home),
    ...clientEnvironment(scenario, folder, model),
    ...options.env,
  };
  const command = { argv, cwd: folder.project, env };
  const terminal =
    options.terminal === 'pty'
      ? openPty(path.join(scenario.dir, session), command)
      : await openPane(scenario.tmux, session, command, options.shell ?? 'direct');
  const agent = new Agent(session, program, terminal, folder, model);
  scenario.agents.push(agent);
  return agent;
}

/** All that a program under test inherits: never our own environment, which may hold keys. */
export function emptyEnvironment(home: string): Record<string, string> {
  return { PATH: process.env.PATH ?? '/usr/bin:/bin', TERM: 'xterm-256color', LANG: 'C.UTF-8', HOME: home };
}

function clientEnvironment(world: World, folder: ClientFolder, model: AgentModel): Record<string, string> {
  return {
    CLAUDE_CODE_TMPDIR: world.tmp,
    CLAUDE_CONFIG_DIR: folder.configDir,
    ANTHROPIC_BASE_URL: model.baseUrl,
    ANTHROPIC_API_KEY: 'dummy',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // Not covered by the one above: a git clone of the plugin list at the first start.
    CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1',
    HTTP_PROXY: world.model.proxyUrl,
    HTTPS_PROXY: world.model.proxyUrl,
    NO_PROXY: '127.0.0.1,localhost',
  };
}

function claudeProgram(): string {
  const link = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../.clients/claude');
  try {
    return realpathSync(link);
  } catch {
    throw new Error('Claude Code is not installed for tests: npm run clients:install');
  }
}

export class Agent {
  readonly session: string;
  readonly terminal: Terminal;
  readonly folder: ClientFolder;
  readonly model: AgentModel;
  readonly #program: string;
  #lastPid: number | null = null;

  constructor(session: string, program: string, terminal: Terminal, folder: ClientFolder, model: AgentModel) {
    this.session = session;
    this.#program = program;
    this.terminal = terminal;
    this.folder = folder;
    this.model = model;
  }

  /** The client's process, or null when it has not started yet or is gone. */
  pid(): number | null {
    if (this.#lastPid !== null) return isRunning(this.#lastPid) ? this.#lastPid : null;
    const found = processTree(this.terminal.rootPid).find((pid) => programOf(pid) === this.#program);
    this.#lastPid = found ?? null;
    return this.#lastPid;
  }

  /** Its registry file, also the one a killed client leaves behind. */
  registry(): RegistryFile | null {
    const pid = this.pid() ?? this.#lastPid;
    return pid === null ? null : this.folder.registry(pid);
  }

  screen(): Promise<string> {
    return this.terminal.screen();
  }

  keys(...names: string[]): Promise<void> {
    return this.terminal.keys(...names);
  }

  async waitForScreen(pattern: RegExp, ms = 10_000): Promise<string> {
    let screen = '';
    const look = async () => {
      screen = await this.screen();
      return pattern.test(screen) ? screen : null;
    };
    return until(`${pattern} on the screen of ${this.session}`, look, ms).catch((error: Error) => {
      throw new Error(`${error.message}\n${screen}`);
    });
  }

  async waitStatus(status: string, ms = 10_000): Promise<RegistryFile> {
    const look = () => (this.registry()?.status === status ? this.registry() : null);
    return until(`${this.session} ${status}`, look, ms).catch((error: Error) => {
      throw new Error(`${error.message}; registry: ${JSON.stringify(this.registry())}`);
    });
  }

  async waitReady(ms = 20_000): Promise<void> {
    await this.waitStatus('idle', ms);
    await this.waitForScreen(/❯/, ms);
  }

  /** Puts the text into the box, sees it there, and only then submits it. */
  async type(text: string): Promise<void> {
    await this.draft(text);
    await this.keys('Enter');
  }

  async draft(text: string): Promise<void> {
    await this.terminal.paste(text);
    // Compared without blanks, because the box wraps; a long text is shown only as "[Pasted text …]".
    const start = withoutBlanks(text).slice(0, 40);
    const look = async () => {
      const screen = withoutBlanks(await this.screen());
      return screen.includes(start) || screen.includes('[Pastedtext');
    };
    await until(`"${text}" in the box of ${this.session}`, look);
  }

  kill(signal: NodeJS.Signals): void {
    const pid = this.pid();
    if (pid !== null) process.kill(pid, signal);
  }

  async exit(): Promise<void> {
    await this.type('/exit');
    await until(`${this.session} gone`, () => this.pid() === null);
  }
}

const withoutBlanks = (text: string) => text.replaceAll(/\s/g, '');
