// A tmux server of our own: its own socket, no config file, and nothing of our environment.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export class Tmux {
  /** Where `TMUX_TMPDIR` has to point for a program to find this server without being told the socket. */
  readonly tmpdir: string;
  readonly socket: string;
  readonly #env: NodeJS.ProcessEnv;
  #closed = false;

  constructor(dir: string, env: NodeJS.ProcessEnv) {
    this.tmpdir = dir;
    this.socket = path.join(dir, `tmux-${process.getuid?.()}`, 'default');
    this.#env = env;
  }

  async run(...args: string[]): Promise<string> {
    if (this.#closed) throw new Error('this tmux server was stopped');
    return this.#run(...args);
  }

  async #run(...args: string[]): Promise<string> {
    const { stdout } = await run('tmux', ['-S', this.socket, '-f', '/dev/null', ...args], { env: this.#env });
    return stdout;
  }

  /** Like `run`, but a server that is gone, or was never there, is an answer too. */
  async ask(...args: string[]): Promise<string | null> {
    if (this.#closed) throw new Error('this tmux server was stopped');
    return this.#run(...args).catch(() => null);
  }

  /** Whoever still waits for something in it must not start it anew. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#run('kill-server').catch(() => {});
  }

  /** Into the pane as a paste: the only way no text is split, dropped or read as a key. */
  async paste(pane: string, text: string): Promise<void> {
    const buffer = `paste-${process.hrtime.bigint()}`;
    const loading = run('tmux', ['-S', this.socket, 'load-buffer', '-b', buffer, '-'], { env: this.#env });
    // A tmux that ends before it has read says so by its exit code.
    loading.child.stdin?.on('error', () => {}).end(text);
    await loading;
    await this.run('paste-buffer', '-p', '-d', '-b', buffer, '-t', pane);
  }
}
