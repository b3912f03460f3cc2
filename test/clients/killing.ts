// A daemon that is killed in the middle of what it does and started anew.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRunning, processTree } from '../../src/conform/processes.ts';
import { until } from '../../src/conform/until.ts';
import type { Scenario } from './scenario.ts';

const killAtRow = fileURLToPath(new URL('./kill-at-row.mjs', import.meta.url));

export type TmuxCommand = 'load-buffer' | 'paste-buffer' | 'send-keys';

export class Daemon {
  readonly #s: Scenario;
  readonly #env: Record<string, string>;
  #pid = 0;

  constructor(s: Scenario, env: Record<string, string> = {}) {
    this.#s = s;
    this.#env = { ...env, NODE_OPTIONS: `--import=${killAtRow}`, KILL_AT_ROW: rowFile(s) };
  }

  async up(): Promise<void> {
    const up = await this.#s.watchkeeper(['up', '--detach'], { env: this.#env });
    if (up.code !== 0) throw new Error(`up failed with ${up.code}: ${up.stderr}`);
    const status = await this.#s.watchkeeper(['status', '--json']);
    this.#pid = status.json<{ daemon: { pid: number } }>().daemon.pid;
  }

  get pid(): number {
    return this.#pid;
  }

  kill(): void {
    process.kill(this.#pid, 'SIGKILL');
  }

  async knows(name: string): Promise<void> {
    await until(`${name} known`, () => this.sees(name, 'idle'));
  }

  async sees(name: string, state: string): Promise<boolean> {
    const status = await this.#s.watchkeeper(['status', '--json']);
    const { agents } = status.json<{ agents: { agent: string; state: string }[] }>();
    return agents.some((seen) => seen.agent === name && seen.state === state);
  }

  async gone(): Promise<void> {
    await until('the daemon gone', () => !isRunning(this.#pid));
  }
}

/** A kill that waits for its moment. */
export interface Killing {
  /** Waits until it has happened. */
  done(ms?: number): Promise<void>;
}

/** tmux itself kills the daemon after its command, before it answers. */
export async function killAfter(s: Scenario, daemon: Daemon, command: TmuxCommand): Promise<Killing> {
  const mark = path.join(s.dir, 'killed');
  rmSync(mark, { force: true });
  await s.tmux.run('set-hook', '-g', `after-${command}`, `run-shell "kill -9 ${daemon.pid}; touch ${mark}"`);
  return {
    async done(ms) {
      await until(`killed after ${command}`, () => existsSync(mark), ms);
      await s.tmux.run('set-hook', '-gu', `after-${command}`);
      await daemon.gone();
    },
  };
}

/** Just before it sends the last of these statements, in their order. */
export function killBefore(s: Scenario, daemon: Daemon, statements: readonly string[]): Killing {
  const file = rowFile(s);
  // The file is read at every statement: it is whole, or it is not there.
  writeFileSync(`${file}.new`, JSON.stringify(statements));
  renameSync(`${file}.new`, file);
  return {
    async done(ms) {
      await until(`killed before ${statements.at(-1)}`, () => existsSync(`${file}.done`), ms);
      for (const each of [file, `${file}.done`]) rmSync(each);
      await daemon.gone();
    },
  };
}

function rowFile(s: Scenario): string {
  return path.join(s.dir, 'kill-at-row');
}

export function databaseProcesses(s: Scenario): number[] {
  const { cluster } = JSON.parse(readFileSync(path.join(s.watchkeeperHome, 'pg.json'), 'utf8')) as { cluster: string };
  return processTree(Number(readFileSync(path.join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]));
}
