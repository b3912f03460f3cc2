import { execFile } from 'node:child_process';
import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { Pane, Tmux, TmuxFailure, TmuxServer } from '../../model/world.ts';
import { ControlConnection, type TmuxAnswer } from './control.ts';

const answerMs = 2_000;
const retryMs = { first: 1_000, last: 10_000 };
const paneFormat = ['pane_id', 'pane_pid', 'pane_dead', 'window_index', 'pane_index', 'session_name'];
/** Names come last: tmux escapes control characters in them, so a tab always ends a field before. */
const panesCommand = ['list-panes', '-a', '-F', paneFormat.map((name) => `#{${name}}`).join('\t')];

/** The tmux servers of this user: those named, or every socket in tmux's own folder. */
export function userTmux(uid: number, named: readonly string[]): Tmux {
  const folder = tmuxFolder(uid);
  const fixed = named.map((name) => (name.includes('/') ? path.resolve(name) : path.join(folder, name)));
  return {
    sockets() {
      return (fixed.length > 0 ? fixed : listFolder(folder)).filter((socket) => isOwnSocket(socket, uid));
    },
    open: (socket, changed) => new WatchedServer(socket, changed),
  };
}

/** Where the servers of this user have their sockets. */
export function tmuxFolder(uid: number): string {
  return path.join(process.env.TMUX_TMPDIR || '/tmp', `tmux-${uid}`);
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => path.join(folder, name));
  } catch {
    return [];
  }
}

function isOwnSocket(socket: string, uid: number): boolean {
  try {
    const info = lstatSync(socket);
    return info.isSocket() && info.uid === uid;
  } catch {
    return false;
  }
}

type Opened = { ok: true; connection: ControlConnection | null } | { ok: false; reason: TmuxFailure };

class WatchedServer implements TmuxServer {
  readonly socket: string;
  readonly #changed: () => void;
  #connection: ControlConnection | null = null;
  /** Set while it hangs: when to try again, after how long a wait. */
  #hung: { retryAtMs: number; waitMs: number } | null = null;
  #trying = false;
  #connecting: Promise<Opened> | null = null;
  #ended = false;

  constructor(socket: string, changed: () => void) {
    this.socket = socket;
    this.#changed = changed;
  }

  async panes(): ReturnType<TmuxServer['panes']> {
    const answer = await this.#ask(panesCommand);
    if (!answer.ok) return answer;
    const panes: Pane[] = [];
    for (const line of answer.lines) {
      const pane = parsePane(line);
      if (pane !== null) panes.push(pane);
    }
    return { ok: true, panes };
  }

  async capture(pane: string): Promise<string | null> {
    if (!/^%\d+$/.test(pane)) return null;
    const answer = await this.#ask(['capture-pane', '-p', '-e', '-t', pane], true);
    return answer.ok ? answer.lines.join('\n') : null;
  }

  close(): void {
    this.#ended = true;
    this.#drop();
  }

  #drop(): void {
    this.#connection?.close();
    this.#connection = null;
  }

  /** `maybe`: a refusal is an answer too, such as for a pane that is gone. */
  async #ask(command: string[], maybe = false): Promise<TmuxAnswer> {
    if (this.#ended) return { ok: false, reason: 'gone' };
    if (this.#hung !== null) {
      if (!this.#trying && performance.now() >= this.#hung.retryAtMs) void this.#tryAgain();
      return { ok: false, reason: 'hung' };
    }
    if (this.#connection === null || this.#connection.closed) {
      const opened = await this.#connect();
      if (!opened.ok) return this.#failed(opened.reason);
    }
    const connection = this.#connection;
    const answer =
      connection === null
        ? await once(this.socket, command)
        : await connection.ask(command.map(quote).join(' '), answerMs);
    return answer.ok || (maybe && answer.reason === 'refused') ? answer : this.#failed(answer.reason);
  }

  /** Whoever asks meanwhile waits for the same one: a second connection would be nobody's, and never closed. */
  #connect(): Promise<Opened> {
    this.#connecting ??= this.#open()
      .then((opened) => {
        if (opened.ok) this.#connection = opened.connection;
        // Closed while it was being opened.
        if (this.#ended) this.#drop();
        return opened;
      })
      .finally(() => {
        this.#connecting = null;
      });
    return this.#connecting;
  }

  /** Nobody waits for this: the other servers are not to be held up by one that hangs. */
  async #tryAgain(): Promise<void> {
    this.#trying = true;
    const opened = await this.#connect().catch(() => ({ ok: false, reason: 'hung' }) as const);
    this.#trying = false;
    if (!opened.ok && opened.reason === 'hung') {
      this.#failed('hung');
      return;
    }
    this.#hung = null;
    if (!this.#ended) this.#changed();
  }

  #failed(reason: TmuxFailure): TmuxAnswer {
    this.#drop();
    // A server that is gone may be back at once; only one that hangs is left alone for a while.
    if (reason === 'hung') {
      const waitMs = this.#hung === null ? retryMs.first : Math.min(this.#hung.waitMs * 2, retryMs.last);
      this.#hung = { retryAtMs: performance.now() + waitMs, waitMs };
    }
    return { ok: false, reason };
  }

  async #open(): Promise<Opened> {
    const format = '#{destroy-unattached}#{exit-unattached} #{session_activity} #{session_id}';
    const listed = await once(this.socket, ['list-sessions', '-F', format]);
    if (!listed.ok) return listed;
    const session = attachable(listed.lines);
    if (session === null) return { ok: true, connection: null };
    const connection = new ControlConnection(this.socket, session, answerMs, this.#changed);
    const ready = await connection.ready;
    if (ready.ok) return { ok: true, connection };
    connection.close();
    return ready;
  }
}

/**
 * The session to attach to: the one used last, so that a bare `tmux attach` still finds it first. With
 * destroy-unattached or exit-unattached our own leaving would end it, so those are asked without attaching.
 */
function attachable(lines: string[]): string | null {
  let best: { id: string; activity: number } | null = null;
  for (const line of lines) {
    const match = /^(\S*) (\d+) (\$\d+)$/.exec(line);
    if (match === null) continue;
    const [, unattached, activity, id] = match;
    if (!/^(0|off)+$/.test(unattached ?? '') || id === undefined) return null;
    if (best === null || Number(activity) > best.activity) best = { id, activity: Number(activity) };
  }
  return best?.id ?? null;
}

function once(socket: string, command: string[]): Promise<TmuxAnswer> {
  return new Promise((resolve) => {
    const options = {
      timeout: answerMs,
      killSignal: 'SIGKILL' as const,
      maxBuffer: 16 * 1024 * 1024,
      env: { PATH: process.env.PATH, TERM: 'dumb', LANG: 'C.UTF-8' },
    };
    execFile('tmux', ['-u', '-N', '-S', socket, ...command], options, (error, stdout) => {
      if (error === null) resolve({ ok: true, lines: stdout.replace(/\n$/, '').split('\n') });
      else resolve({ ok: false, reason: error.killed ? 'hung' : 'gone' });
    });
  });
}

/** For tmux's own command parser; the words are ours, never from outside. */
function quote(word: string): string {
  return `'${word}'`;
}

function parsePane(line: string): Pane | null {
  const [id, pid, dead, windowIndex, paneIndex, ...session] = line.split('\t');
  if (id === undefined || !/^%\d+$/.test(id) || session.length === 0) return null;
  return {
    id,
    pid: Number(pid),
    dead: dead === '1',
    windowIndex: Number(windowIndex),
    paneIndex: Number(paneIndex),
    session: session.join('\t'),
  };
}
