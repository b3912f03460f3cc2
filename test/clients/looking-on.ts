// `up` in the foreground, as a person has it in a terminal, and every line that it says.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { until, withMore } from '../../src/conform/until.ts';
import { emptyEnvironment } from './agent.ts';
import { type Scenario, watchkeeperProgram } from './scenario.ts';

export interface SaidLine {
  text: string;
  atMs: number;
}

export class LookingOn {
  readonly lines: SaidLine[] = [];
  readonly #child: ChildProcess;
  #messages = '';

  constructor({ home, watchkeeperHome, tmux }: Scenario, args: string[], more: Record<string, string> = {}) {
    const own = { WATCHKEEPER_HOME: watchkeeperHome, TMUX_TMPDIR: tmux.tmpdir };
    const env = { ...emptyEnvironment(home), ...own, ...more };
    this.#child = spawn(watchkeeperProgram, ['up', ...args], { env, cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
    if (this.#child.stdout !== null)
      createInterface({ input: this.#child.stdout }).on('line', (text) => this.lines.push({ text, atMs: Date.now() }));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#messages += text;
    });
  }

  /** What it said, without the times. */
  get said(): string {
    return this.lines.map(({ text }) => text.slice(10)).join('\n');
  }

  get all(): string {
    return this.lines.map(({ text }) => text).join('\n');
  }

  line(what: RegExp, ms?: number): Promise<SaidLine> {
    const find = () => this.lines.find(({ text }) => what.test(text)) ?? null;
    return until(`up says ${what}`, find, ms).catch(withMore(() => `up said:\n${this.all}\n${this.#messages}`));
  }

  watches(): Promise<boolean> {
    const has = () => this.#messages.includes('watching, data in');
    return until('it watches', has).catch(withMore(() => this.#messages));
  }

  /** Ctrl-C; the code with which it ended. */
  async stop(): Promise<number | null> {
    if (this.#child.exitCode === null) {
      this.#child.kill('SIGINT');
      await once(this.#child, 'exit');
    }
    return this.#child.exitCode;
  }
}
