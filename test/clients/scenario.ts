// One test's whole world: temp folder, tmux server, model, and a Watchkeeper home; all gone afterwards, and proven gone.
import { type ExecFileException, execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Agent, emptyEnvironment } from './agent.ts';
import { type FakeModel, startFakeModel } from './fake-model.ts';
import { commandLineOf, processesMentioning } from './processes.ts';
import { Tmux } from './tmux.ts';
import { until } from './until.ts';

const watchkeeperProgram = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../bin/watchkeeper');

interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
  json(): unknown;
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
        resolve({ code, stdout, stderr: stderr || (error?.message ?? ''), json: () => JSON.parse(stdout) });
      };
      const child = execFile(watchkeeperProgram, args, { env, cwd: this.home, timeout: 60_000 }, done);
      child.stdin?.end(options.stdin ?? '');
    });
  }

  async end(): Promise<void> {
    const down = await this.watchkeeper(['down']);
    const left = processesMentioning(this.watchkeeperHome).map(commandLineOf);
    await this.tmux.ask('kill-server');
    const gone = () => processesMentioning(this.dir).length === 0;
    // Clients end by themselves with their terminal; what is stopped, detached or stuck is helped along.
    await until('clients gone by themselves', gone, 1_000).catch(() => {
      for (const pid of processesMentioning(this.dir)) kill(pid);
    });
    await until('no process of the scenario left', gone, 5_000);
    await this.model.close();
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 3 });
    if (this.model.outside.length > 0) throw new Error(`traffic beyond loopback: ${this.model.outside.join(' | ')}`);
    if (left.length > 0) throw new Error(`watchkeeper down left running (exit ${down.code}): ${left.join(' | ')}`);
  }
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
    try {
      await body(s);
    } finally {
      await s.end();
    }
  };
}
