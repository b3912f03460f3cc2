// Starts the real Claude Code for a test: its own project, config folder and model, and nothing of our environment.
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  type ClientFolder,
  prepareClientFolder,
  type RegistryFile,
  type StatusLine,
  type Transcript,
} from './client-folder.ts';
import type { AgentModel, FakeModel } from './fake-model.ts';
import { isRunning, processTree, programOf } from './processes.ts';
import { openPane, openPty, type Size, type Terminal } from './terminal.ts';
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
  /** In a further pane of this session instead of one of its own. */
  splitOf?: string;
  shell?: 'direct' | 'bash' | 'sh';
  size?: Size;
  permissionMode?: 'default' | 'auto' | 'acceptEdits' | 'plan';
  /** A model name the client accepts; its own default otherwise. */
  modelName?: string;
  args?: string[];
  env?: Record<string, string>;
  /** A folder shared with another agent, or `home`: the user's own ~/.claude, which no variable names. */
  configDir?: string | 'home';
  project?: string;
  extraSettings?: Record<string, unknown>;
  /** Records what the client tells a status line; see `statusLines()`. */
  statusLine?: boolean;
  /** Runs when its folders are there and it has not started yet. */
  prepared?: () => Promise<void>;
  trust?: boolean;
  onboarded?: boolean;
  keyApproved?: boolean;
}

export async function launchAgent(options: LaunchOptions): Promise<Agent> {
  const { scenario, session } = options;
  const model = scenario.model.agent(session);
  const atHome = options.configDir === 'home';
  const configDir = atHome
    ? path.join(scenario.home, '.claude')
    : (options.configDir ?? path.join(scenario.dir, session, 'config'));
  const folder = prepareClientFolder({
    configDir,
    stateFile: path.join(atHome ? scenario.home : configDir, '.claude.json'),
    project: options.project ?? path.join(scenario.dir, session, 'project'),
    extraSettings: options.extraSettings ?? {},
    statusLine: options.statusLine ?? false,
    trust: options.trust ?? true,
    onboarded: options.onboarded ?? true,
    keyApproved: options.keyApproved ?? true,
  });
  await options.prepared?.();
  const program = claudeProgram();
  const argv = [program, '--permission-mode', options.permissionMode ?? 'default', ...(options.args ?? [])];
  if (options.modelName !== undefined) argv.push('--model', options.modelName);
  const env = {
    ...emptyEnvironment(scenario.home),
    ...clientEnvironment(scenario, model),
    ...(atHome ? {} : { CLAUDE_CONFIG_DIR: configDir }),
    ...options.env,
  };
  const command = { argv, cwd: folder.project, env };
  const terminal =
    options.terminal === 'pty'
      ? openPty(path.join(scenario.dir, session), command)
      : await openPane(
          scenario.tmux,
          session,
          command,
          options.shell ?? 'direct',
          options.splitOf ?? null,
          options.size,
        );
  const agent = new Agent(session, program, terminal, folder, model);
  scenario.agents.push(agent);
  return agent;
}

/** All that a program under test inherits: never our own environment, which may hold keys. */
export function emptyEnvironment(home: string): Record<string, string> {
  return { PATH: process.env.PATH ?? '/usr/bin:/bin', TERM: 'xterm-256color', LANG: 'C.UTF-8', HOME: home };
}

function clientEnvironment(world: World, model: AgentModel): Record<string, string> {
  return {
    CLAUDE_CODE_TMPDIR: world.tmp,
    ANTHROPIC_BASE_URL: model.baseUrl,
    ANTHROPIC_API_KEY: 'dummy',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // Not covered by the one above: a git clone of the plugin list at the first start.
    CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1',
    // Whatever is left to phone home ends at the fake model, which refuses and reports it.
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

  /** The client's process, or null when it has not started yet or is gone; a later one in the same shell counts too. */
  pid(): number | null {
    if (this.#lastPid !== null && isRunning(this.#lastPid)) return this.#lastPid;
    const found = processTree(this.terminal.rootPid).find((pid) => programOf(pid) === this.#program);
    if (found !== undefined) this.#lastPid = found;
    return found ?? null;
  }

  /** Its registry file, also the one a killed client leaves behind. */
  registry(): RegistryFile | null {
    const pid = this.pid() ?? this.#lastPid;
    return pid === null ? null : this.folder.registry(pid);
  }

  transcripts(): Transcript[] {
    return this.folder.transcripts();
  }

  statusLines(): StatusLine[] {
    return this.folder.statusLines();
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

  /** Waits until a dialog takes keys: it is drawn half a second after the registry tells of it, and ignores the first ones. */
  async waitDialog(pattern: RegExp, ms = 10_000): Promise<void> {
    await this.waitStatus('waiting', ms);
    await this.waitForScreen(pattern, ms);
    await sleep(400);
  }

  /** Puts the text into the box, sees it there, and only then submits it. */
  async type(text: string): Promise<void> {
    await this.draft(text);
    await this.keys('Enter');
  }

  /** Text in the box, not submitted. */
  async draft(text: string): Promise<void> {
    await this.terminal.paste(text);
    // Compared without blanks, because the box wraps; a long text is shown only as "[Pasted text …]".
    const start = withoutBlanks(text).slice(0, 40);
    const look = async () => {
      const typed = withoutBlanks(await this.terminal.typed());
      return typed.includes(start) || typed.includes('[Pastedtext');
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
