// Where a client runs: a tmux pane as its own process, or a shell in a tmux pane.
import { quoted } from '../clients/inbox.ts';
import type { Tmux } from './tmux.ts';

export interface Terminal {
  /** The pane, where there is one. */
  pane: string | null;
  /** The first process in the terminal: the client itself, or the shell it was typed into. */
  rootPid: number;
  screen(): Promise<string>;
  /** Where typed text shows up, as far as it can be told from the rest of the screen; `box`: its part of a screen. */
  typed(box: (screen: string) => string): Promise<string>;
  paste(text: string): Promise<void>;
  keys(...names: string[]): Promise<void>;
}

export interface Command {
  argv: string[];
  cwd: string;
  env: Record<string, string>;
}

export interface Size {
  columns: number;
  rows: number;
}

export const usualSize: Size = { columns: 120, rows: 40 };

export async function openPane(
  tmux: Tmux,
  session: string,
  command: Command,
  shell: 'direct' | 'bash' | 'sh',
  splitOf: string | null,
  size = usualSize,
): Promise<Terminal> {
  const environment = Object.entries(command.env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const program = { direct: command.argv, bash: ['bash', '--norc'], sh: ['sh'] }[shell];
  const place = ['-d', '-P', '-F', '#{pane_id} #{pane_pid}', '-c', command.cwd, ...environment];
  const opened = await (splitOf === null
    ? tmux.run('new-session', ...place, '-s', session, '-x', `${size.columns}`, '-y', `${size.rows}`, '--', ...program)
    : tmux.run('split-window', ...place, '-h', '-t', `=${splitOf}:`, '--', ...program));
  const [pane = '', pid] = opened.trim().split(' ');
  const screen = async () => (await tmux.ask('capture-pane', '-p', '-t', pane)) ?? '';
  const terminal: Terminal = {
    pane,
    rootPid: Number(pid),
    screen,
    typed: async (box) => box(await screen()),
    paste: (text) => tmux.paste(pane, text),
    keys: async (...names) => void (await tmux.run('send-keys', '-t', pane, ...names)),
  };
  if (shell !== 'direct') {
    await terminal.paste(command.argv.map(quoted).join(' '));
    await terminal.keys('Enter');
  }
  return terminal;
}
