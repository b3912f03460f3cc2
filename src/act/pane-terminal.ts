import { execFile } from 'node:child_process';
import type { PaneFacts } from '../model/delivery.ts';

const answerMs = 3_000;

/** What may be done to one pane. Everything has a timeout; nothing is a shell string. */
export interface PaneTerminal {
  facts(): Promise<PaneFacts | null>;
  /** With styles, so that hints can be told from typed text. */
  screen(): Promise<string | null>;
  /** Both only if the pane still is the one that was checked; false: it was not, and nothing was typed. */
  paste(text: string, panePid: number): Promise<boolean>;
  key(name: 'Enter' | 'C-s' | 'C-u', panePid: number): Promise<boolean>;
  leaveCopyMode(): Promise<void>;
}

export function tmuxPane(socket: string, pane: string): PaneTerminal {
  const ask = (args: string[], input?: string) => tmux(socket, args, input);
  return {
    async facts() {
      const format = ['pane_pid', 'pane_dead', 'pane_synchronized', 'pane_id', 'pane_mode'].map((name) => `#{${name}}`);
      const [shown, clients] = await Promise.all([
        ask(['display-message', '-p', '-t', pane, format.join('\t')]),
        ask(['list-clients', '-F', '#{client_activity}\t#{client_control_mode}\t#{pane_id}']),
      ]);
      const [pid, dead, synchronized, id, mode] = (shown ?? '').trimEnd().split('\t');
      if (clients === null || id !== pane) return null;
      return {
        pid: Number(pid),
        dead: dead === '1',
        synchronized: synchronized === '1',
        mode: mode ?? '',
        people: clients
          .split('\n')
          .map((line) => line.split('\t'))
          .filter(([, control, looksAt]) => control === '0' && looksAt === pane)
          .map(([activity]) => ({ activeAtMs: Number(activity) * 1000 })),
      };
    },
    screen: () => ask(['capture-pane', '-p', '-e', '-t', pane]),
    async paste(text, panePid) {
      const buffer = `watchkeeper-${process.pid}-${process.hrtime.bigint()}`;
      if ((await ask(['load-buffer', '-b', buffer, '-'], text)) === null) return false;
      const done = await guarded(ask, pane, panePid, `paste-buffer -p -d -b ${buffer} -t ${pane}`);
      if (!done) await ask(['delete-buffer', '-b', buffer]);
      return done;
    },
    key: (name, panePid) => guarded(ask, pane, panePid, `send-keys -t ${pane} ${name}`),
    async leaveCopyMode() {
      await ask(['send-keys', '-t', pane, '-X', 'cancel']);
    },
  };
}

/**
 * The last check and the deed are one command inside the tmux server, so that nothing can come between them. The
 * command holds only ids and names of our own making.
 */
async function guarded(
  ask: (args: string[]) => Promise<string | null>,
  pane: string,
  panePid: number,
  command: string,
): Promise<boolean> {
  const conditions = [
    `#{==:#{pane_pid},${panePid}}`,
    '#{==:#{pane_dead},0}',
    '#{==:#{pane_in_mode},0}',
    '#{==:#{pane_synchronized},0}',
  ];
  const all = conditions.reduce((rest, condition) => `#{&&:${condition},${rest}}`);
  const answer = await ask([
    'if-shell',
    '-F',
    '-t',
    pane,
    all,
    `${command} ; display-message -p done`,
    'display-message -p not-now',
  ]);
  return answer?.trim() === 'done';
}

function tmux(socket: string, args: string[], input?: string): Promise<string | null> {
  return new Promise((resolve) => {
    const options = {
      timeout: answerMs,
      killSignal: 'SIGKILL' as const,
      maxBuffer: 16 * 1024 * 1024,
      env: { PATH: process.env.PATH, TERM: 'dumb', LANG: 'C.UTF-8' },
    };
    const child = execFile('tmux', ['-u', '-N', '-S', socket, ...args], options, (error, stdout) =>
      resolve(error === null ? stdout : null),
    );
    child.stdin?.on('error', () => {});
    child.stdin?.end(input ?? '');
  });
}
