// A terminal without tmux.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { quoted } from '../../src/clients/inbox.ts';
import { type Command, type Terminal, usualSize } from '../../src/conform/terminal.ts';

/** A pseudo-terminal kept open by script(1), as an editor or a plain terminal window would. */
export function openPty(dir: string, command: Command): Terminal {
  const output = path.join(dir, 'typescript');
  const typed = `stty rows ${usualSize.rows} cols ${usualSize.columns}; exec ${command.argv.map(quoted).join(' ')}`;
  const child: ChildProcess = spawn('script', ['-q', '-f', '-e', '-c', typed, output], {
    cwd: command.cwd,
    env: command.env,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const send = (bytes: string) => void child.stdin?.write(bytes);
  // Not a terminal emulator: the text in the order it was written, which is enough to search in.
  const screen = async () => stripVTControlCharacters(readFileSync(output, 'utf8'));
  let beforePaste = 0;
  return {
    pane: null,
    rootPid: child.pid ?? 0,
    screen,
    typed: async () => (await screen()).slice(beforePaste),
    paste: async (text) => {
      beforePaste = (await screen()).length;
      send(`\x1b[200~${text}\x1b[201~`);
    },
    keys: async (...names) => {
      for (const name of names) send(bytesOfKey[name] ?? name);
    },
  };
}

const bytesOfKey: Record<string, string> = {
  Enter: '\r',
  Escape: '\x1b',
  'C-c': '\x03',
  'C-z': '\x1a',
  Down: '\x1b[B',
};
