import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { TmuxFailure } from '../../model/world.ts';

export type TmuxAnswer = { ok: true; lines: string[] } | { ok: false; reason: TmuxFailure };

interface Pending {
  answer: (answer: TmuxAnswer) => void;
  timer: NodeJS.Timeout;
}

const answerBytesMax = 16 * 1024 * 1024;

/**
 * One control-mode connection to a tmux server (`tmux -C attach`): a line in, a `%begin … %end` block out, and a
 * `%` line whenever something changes. It never sends keys and asks for no pane output.
 */
export class ControlConnection {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #changed: () => void;
  /** Oldest first: tmux answers in order. The first block belongs to the attach itself. */
  readonly #pending: Pending[] = [];
  /** The lines of the block that is open, and what its end has to say: a pane's own text may look like an end. */
  #block: { lines: string[]; mark: string } | null = null;
  #rest = '';
  #bytes = 0;
  #closed = false;
  readonly ready: Promise<TmuxAnswer>;

  constructor(socket: string, session: string, timeoutMs: number, changed: () => void) {
    this.#changed = changed;
    // -N: never start a server. -E: leave the session's environment alone. The flags keep a user's window sizes as they are.
    const flags = 'ignore-size,no-output,read-only';
    this.#child = spawn('tmux', ['-u', '-N', '-S', socket, '-C', 'attach-session', '-E', '-f', flags, '-t', session], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, TERM: 'dumb', LANG: 'C.UTF-8' },
    });
    this.#child.stdout.setEncoding('utf8');
    this.#child.stdout.on('data', (text: string) => this.#read(text));
    this.#child.stderr.resume();
    this.#child.stdin.on('error', () => this.close());
    this.#child.on('error', () => this.close());
    this.#child.on('exit', () => this.close());
    this.ready = this.#expect(timeoutMs);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** The command is one line of tmux's own language, made by us: never with text from outside in it. */
  ask(command: string, timeoutMs: number): Promise<TmuxAnswer> {
    if (this.#closed) return Promise.resolve({ ok: false, reason: 'gone' });
    const answer = this.#expect(timeoutMs);
    this.#child.stdin.write(`${command}\n`);
    return answer;
  }

  close(reason: TmuxFailure = 'gone'): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const pending of this.#pending.splice(0)) {
      clearTimeout(pending.timer);
      pending.answer({ ok: false, reason });
    }
    this.#child.kill('SIGKILL');
    // The server holds the other ends as well; one that hangs would keep ours open, and us from ending.
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream.destroy();
    this.#changed();
  }

  #expect(timeoutMs: number): Promise<TmuxAnswer> {
    return new Promise((answer) => {
      const timer = setTimeout(() => this.close('hung'), timeoutMs);
      this.#pending.push({ answer, timer });
    });
  }

  #read(text: string): void {
    this.#bytes += text.length;
    if (this.#bytes > answerBytesMax) {
      this.close('refused');
      return;
    }
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#line(line);
  }

  #line(line: string): void {
    if (this.#block === null) {
      if (line.startsWith('%begin ')) this.#block = { lines: [], mark: line.slice('%begin '.length) };
      else if (line.startsWith('%exit')) this.close();
      else if (/^%(sessions?-|window-|unlinked-window-|layout-)/.test(line)) this.#changed();
      // Out of step: better a new connection than answers to other questions.
      else if (!line.startsWith('%')) this.close('refused');
      return;
    }
    const { lines, mark } = this.#block;
    const end = line === `%end ${mark}`;
    if (!end && line !== `%error ${mark}`) {
      lines.push(line);
      return;
    }
    this.#block = null;
    this.#bytes = 0;
    const pending = this.#pending.shift();
    if (pending === undefined) return;
    clearTimeout(pending.timer);
    pending.answer(end ? { ok: true, lines } : { ok: false, reason: 'refused' });
  }
}
