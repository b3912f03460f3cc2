// Starts a real Claude Code with its own project, config folder and model, and nothing of our environment.
import path from 'node:path';
import { emptyEnvironment } from '../../../conform/environment.ts';
import { isRunning, processTree, programOf, wordsOf } from '../../../conform/processes.ts';
import type { TriedAgent } from '../../../conform/sandbox.ts';
import { type Command, openPane, type Size, type Terminal } from '../../../conform/terminal.ts';
import type { Tmux } from '../../../conform/tmux.ts';
import { until, withMore } from '../../../conform/until.ts';
import { claudeCode } from '../client.ts';
import { type ClientFolder, prepareClientFolder } from './client-folder.ts';
import type { AgentModel, FakeModel } from './fake-model.ts';

/** What a client needs of the world it lives in. */
interface World {
  dir: string;
  home: string;
  /** Where the client puts its sockets and the output of background shells. */
  tmp: string;
  tmux: Tmux;
  model: FakeModel;
  clients: TriedAgent[];
}

export interface ClientOptions {
  world: World;
  /** The client's own program. */
  program: string;
  /** tmux session name, and the name of the agent's model. */
  session: string;
  /** Somewhere else than in a pane of this world's tmux. */
  open?: (command: Command) => Terminal;
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
  /** Runs when its folders are there and it has not started yet. */
  prepared?: () => Promise<void>;
  trust?: boolean;
  onboarded?: boolean;
  keyApproved?: boolean;
}

export async function launchClient(options: ClientOptions): Promise<ClientAgent> {
  const { world, session } = options;
  const model = world.model.agent(session);
  const atHome = options.configDir === 'home';
  const configDir = configDirOf(options);
  const folder = prepareClientFolder({
    configDir,
    stateFile: path.join(atHome ? world.home : configDir, '.claude.json'),
    project: options.project ?? path.join(world.dir, session, 'project'),
    settings: options.extraSettings ?? {},
    trust: options.trust ?? true,
    onboarded: options.onboarded ?? true,
    keyApproved: options.keyApproved ?? true,
  });
  await options.prepared?.();
  const argv = [options.program, '--permission-mode', options.permissionMode ?? 'default', ...(options.args ?? [])];
  if (options.modelName !== undefined) argv.push('--model', options.modelName);
  const env = {
    ...emptyEnvironment(world.home),
    ...clientEnvironment(world, model),
    ...(atHome ? {} : { CLAUDE_CONFIG_DIR: configDir }),
    ...options.env,
  };
  const command = { argv, cwd: folder.project, env };
  const terminal =
    options.open?.(command) ??
    (await openPane(world.tmux, session, command, options.shell ?? 'direct', options.splitOf ?? null, options.size));
  const agent = new ClientAgent(session, terminal, folder, model);
  world.clients.push(agent);
  return agent;
}

export function configDirOf({ world, session, configDir }: ClientOptions): string {
  if (configDir === 'home') return path.join(world.home, '.claude');
  return configDir ?? path.join(world.dir, session, 'config');
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

export class ClientAgent {
  readonly session: string;
  readonly terminal: Terminal;
  readonly folder: ClientFolder;
  readonly model: AgentModel;
  #lastPid: number | null = null;

  constructor(session: string, terminal: Terminal, folder: ClientFolder, model: AgentModel) {
    this.session = session;
    this.terminal = terminal;
    this.folder = folder;
    this.model = model;
  }

  /** The client's process, or null when it has not started yet or is gone; a later one in the same shell counts too. */
  pid(): number | null {
    if (this.#lastPid !== null && isRunning(this.#lastPid)) return this.#lastPid;
    const found = processTree(this.terminal.rootPid).find((pid) =>
      claudeCode.recognition.isProgram(programOf(pid), wordsOf(pid)),
    );
    if (found !== undefined) this.#lastPid = found;
    return found ?? null;
  }

  /** Also of one that is gone. */
  protected get lastPid(): number | null {
    return this.pid() ?? this.#lastPid;
  }

  screen(): Promise<string> {
    return this.terminal.screen();
  }

  keys(...names: string[]): Promise<void> {
    return this.terminal.keys(...names);
  }

  async waitForScreen(pattern: RegExp, ms = 30_000): Promise<string> {
    let screen = '';
    const look = async () => {
      screen = await this.screen();
      return pattern.test(screen) ? screen : null;
    };
    return until(`${pattern} on the screen of ${this.session}`, look, ms).catch(withMore(() => screen));
  }

  /** What is in the box, and below it. */
  typed(): Promise<string> {
    return this.terminal.typed(inputBox);
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
      const typed = withoutBlanks(await this.typed());
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

/** What is between the last two rules, and below; the whole screen where there is no box, as in a shell. */
function inputBox(screen: string): string {
  const lines = screen.split('\n');
  const rules = lines.flatMap((line, at) => (line.startsWith('────') ? [at] : []));
  return lines.slice(rules.at(-2) ?? 0).join('\n');
}

const withoutBlanks = (text: string) => text.replaceAll(/\s/g, '');
