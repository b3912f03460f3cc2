// One world of its own for real clients: temp folder, tmux server, model, and a Watchkeeper home; all gone afterwards,
// and proven gone.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TrialModel } from '../clients/client.ts';
import { emptyEnvironment } from './environment.ts';
import { commandLineOf, isInTmux, processesIn } from './processes.ts';
import type { Terminal } from './terminal.ts';
import { Tmux } from './tmux.ts';
import { until } from './until.ts';

/** dist/conform/ and src/conform/ are both three folders below the package. */
export const watchkeeperProgram = fileURLToPath(new URL('../../bin/watchkeeper', import.meta.url));

const commandMs = 60_000;
const endingMs = 1_000;

interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
  /** stdout as one JSON document, in the shape the caller expects. */
  json<T>(): T;
}

interface CommandOptions {
  env?: Record<string, string>;
  stdin?: string;
}

/** A client that runs here. */
export interface TriedAgent {
  readonly session: string;
  readonly terminal: Terminal;
  screen(): Promise<string>;
  kill(signal: NodeJS.Signals): void;
}

export class Sandbox<Model extends TrialModel = TrialModel> {
  readonly dir: string;
  readonly home: string;
  readonly tmp: string;
  readonly watchkeeperHome: string;
  readonly tmux: Tmux;
  readonly model: Model;
  readonly clients: TriedAgent[] = [];
  /** The Watchkeeper that is tried out. */
  program = watchkeeperProgram;
  readonly #commands = new Set<Promise<CommandResult>>();
  #ending = false;

  constructor(dir: string, model: Model) {
    this.dir = dir;
    this.home = path.join(dir, 'home');
    this.tmp = path.join(dir, 'tmp');
    this.watchkeeperHome = path.join(dir, 'watchkeeper');
    this.tmux = new Tmux(dir, emptyEnvironment(this.home));
    mkdirSync(this.home);
    mkdirSync(this.tmp);
    mkdirSync(path.dirname(this.tmux.socket), { mode: 0o700 });
    this.model = model;
  }

  /** Nothing may be started here any more. */
  get ending(): boolean {
    return this.#ending;
  }

  /** Runs the program itself, as a person would, but sees only this world's tmux server, home and data. */
  async watchkeeper(args: string[], options: CommandOptions = {}): Promise<CommandResult> {
    if (this.#ending) throw new Error('this world is at its end');
    return this.#command(args, options);
  }

  #command(args: string[], options: CommandOptions): Promise<CommandResult> {
    const own = { WATCHKEEPER_HOME: this.watchkeeperHome, TMUX_TMPDIR: this.tmux.tmpdir };
    const env = { ...emptyEnvironment(this.home), ...own, ...options.env };
    const running = runProgram([this.program, ...args], { env, cwd: this.home }, options.stdin ?? '');
    this.#commands.add(running);
    return running.finally(() => this.#commands.delete(running));
  }

  /** What this world looked like, for the message of a failure. */
  async describe(): Promise<string> {
    const screens = this.clients.map(
      async (client) => `--- ${client.session}\n${(await client.screen().catch(() => '')).trimEnd()}`,
    );
    const log = path.join(this.watchkeeperHome, 'daemon.log');
    const daemon = existsSync(log) ? [`--- daemon.log\n${readFileSync(log, 'utf8').slice(-4_000)}`] : [];
    return [...(await Promise.all(screens)), ...daemon].join('\n');
  }

  /** Daemon first, so that it does not watch its agents being killed. `keep` leaves the folder, for a look at it. */
  async end(keep = false): Promise<void> {
    this.#ending = true;
    // A daemon that is being started has its database half started too.
    await Promise.all(this.#commands);
    const down = existsSync(this.watchkeeperHome) ? await this.#command(['down'], {}) : null;
    const database = databaseFolders(this.watchkeeperHome);
    const running = () => [this.watchkeeperHome, ...database].flatMap(processesIn).filter((pid) => !isInTmux(pid));
    // What is on its way out is not left behind.
    await until('nothing runs there', () => running().length === 0, endingMs).catch(() => {});
    const left = running();
    const commands = left.map(commandLineOf);
    left.forEach(kill);
    await this.#endClients();
    await this.model.close();
    for (const dir of [...(keep ? [] : [this.dir]), ...database])
      rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
    if (commands.length > 0) throw new Error(`left by watchkeeper down (${down?.code}): ${commands.join(' | ')}`);
    if (this.model.outside.length > 0) throw new Error(`traffic beyond loopback: ${this.model.outside.join(' | ')}`);
  }

  async #endClients(): Promise<void> {
    await this.tmux.close();
    for (const client of this.clients.filter(({ terminal }) => terminal.pane === null)) client.kill('SIGHUP');
    // Clients end with their terminal; what is stopped, detached or stuck is helped along.
    const gone = () => processesIn(this.dir).length === 0;
    await until('clients gone by themselves', gone, 1_000).catch(() => processesIn(this.dir).forEach(kill));
    await until('no process of this world left', gone, 20_000);
  }
}

/** In a group of its own: Ctrl-C is for us to handle, and an `up` cut short would leave its daemon behind. */
function runProgram(
  words: string[],
  how: { env: NodeJS.ProcessEnv; cwd: string },
  stdin: string,
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, words, { ...how, detached: true, timeout: commandMs, killSignal: 'SIGKILL' });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const done = (code: number) => resolve({ code, stdout, stderr, json: <T>() => JSON.parse(stdout) as T });
    child.on('error', (error) => {
      stderr += error.message;
      done(-1);
    });
    child.on('close', (code) => done(code ?? -1));
    child.stdin.on('error', () => {}).end(stdin);
  });
}

/** Run by root, PostgreSQL has to live outside the private data directory, which names the place. */
function databaseFolders(watchkeeperHome: string): string[] {
  const file = path.join(watchkeeperHome, 'pg.json');
  if (!existsSync(file)) return [];
  const { cluster, socketDir } = JSON.parse(readFileSync(file, 'utf8')) as { cluster: string; socketDir: string };
  return [path.dirname(cluster), socketDir];
}

function kill(pid: number) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone by itself meanwhile.
  }
}
