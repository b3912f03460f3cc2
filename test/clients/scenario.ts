// One test's whole world: temp folder, tmux server, model, and a Watchkeeper home; all gone afterwards, and proven gone.
import { type ExecFileException, execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Agent, emptyEnvironment } from './agent.ts';
import { type FakeModel, startFakeModel } from './fake-model.ts';
import { commandLineOf, isInTmux, processesIn } from './processes.ts';
import { Tmux } from './tmux.ts';
import { until } from './until.ts';

export const watchkeeperProgram = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../bin/watchkeeper');

const runLimits = { timeout: 60_000, maxBuffer: 64 * 1024 * 1024 };

interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
  /** stdout as one JSON document, in the shape the caller expects. */
  json<T>(): T;
}

export class Scenario {
  readonly dir: string;
  readonly home: string;
  readonly tmp: string;
  readonly watchkeeperHome: string;
  readonly tmux: Tmux;
  readonly model: FakeModel;
  readonly agents: Agent[] = [];
  readonly until = until;

  constructor(dir: string, model: FakeModel) {
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

  /** Runs the program itself, as a person would, but sees only this test's tmux server, home and data. */
  watchkeeper(args: string[], options: { env?: Record<string, string>; stdin?: string } = {}): Promise<CommandResult> {
    const own = { WATCHKEEPER_HOME: this.watchkeeperHome, TMUX_TMPDIR: this.tmux.tmpdir };
    const env = { ...emptyEnvironment(this.home), ...own, ...options.env };
    return new Promise((resolve) => {
      const done = (error: ExecFileException | null, stdout: string, stderr: string) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, stdout, stderr: stderr || (error?.message ?? ''), json: <T>() => JSON.parse(stdout) as T });
      };
      const child = execFile(watchkeeperProgram, args, { env, cwd: this.home, ...runLimits }, done);
      child.stdin?.end(options.stdin ?? '');
    });
  }

  /** What the test's world looked like, for the message of a failed test. */
  async describe(): Promise<string> {
    const agents = this.agents.map(
      async (agent) => `--- ${agent.session}: ${JSON.stringify(agent.registry())}\n${(await agent.screen()).trimEnd()}`,
    );
    const log = path.join(this.watchkeeperHome, 'daemon.log');
    const daemon = existsSync(log) ? [`--- daemon.log\n${readFileSync(log, 'utf8').slice(-4_000)}`] : [];
    return [...(await Promise.all(agents)), ...daemon].join('\n');
  }

  /** Daemon first, so that it does not watch its agents being killed. */
  async end(): Promise<void> {
    const down = existsSync(this.watchkeeperHome) ? await this.watchkeeper(['down']) : null;
    const database = databaseFolders(this.watchkeeperHome);
    const left = [this.watchkeeperHome, ...database].flatMap(processesIn).filter((pid) => !isInTmux(pid));
    const commands = left.map(commandLineOf);
    left.forEach(kill);
    await this.#endAgents();
    await this.model.close();
    for (const dir of [this.dir, ...database]) rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
    if (commands.length > 0) throw new Error(`left by watchkeeper down (${down?.code}): ${commands.join(' | ')}`);
    if (this.model.outside.length > 0) throw new Error(`traffic beyond loopback: ${this.model.outside.join(' | ')}`);
  }

  async #endAgents(): Promise<void> {
    await this.tmux.ask('kill-server');
    for (const agent of this.agents.filter(({ terminal }) => terminal.pane === null)) agent.kill('SIGHUP');
    // Clients end with their terminal; what is stopped, detached or stuck is helped along.
    const gone = () => processesIn(this.dir).length === 0;
    await until('agents gone by themselves', gone, 1_000).catch(() => processesIn(this.dir).forEach(kill));
    await until('no process of the scenario left', gone, 5_000);
  }
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

/** For `test('…', scenario(async (s) => { … }))`. */
export function scenario(body: (s: Scenario) => Promise<void>): () => Promise<void> {
  return async () => {
    const s = new Scenario(mkdtempSync(path.join(tmpdir(), 'wk-scenario-')), await startFakeModel());
    const failures: Error[] = [];
    await body(s).catch(async (error: Error) => {
      error.message += `\n${await s.describe()}`;
      failures.push(error);
    });
    await s.end().catch((error: Error) => failures.push(error));
    if (failures.length > 1) throw new AggregateError(failures, failures.map((failure) => failure.message).join('\n'));
    if (failures[0] !== undefined) throw failures[0];
  };
}
