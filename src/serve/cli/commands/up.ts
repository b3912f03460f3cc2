import { spawn } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Command, Option } from 'commander';
import type { RunningDaemon, StartFailure } from '../../../daemon/daemon.ts';
import { findHome, type Home, runningDaemon } from '../../../home/home.ts';
import { databaseFolder } from '../../../rows/database.ts';
import { CommandFailure, exit } from '../outcome.ts';
import { print, say, withOwnTimes } from '../output.ts';
import { Stream } from '../stream/stream.ts';

interface UpOptions {
  detach?: boolean;
  tmuxSocket: string[];
  createUser: boolean;
  watchOnly?: boolean;
  verbose?: boolean;
}

const detachMs = 30_000;
const messageCharsMax = 10_000;

export const noCreateUser = 'as root: never create the system user that the embedded database runs as';

export const exitCodes: Record<StartFailure, number> = {
  'already-running': exit.no,
  home: exit.usage,
  config: exit.usage,
  database: exit.noDatabase,
  control: exit.usage,
  platform: exit.usage,
};

export function addUp(program: Command): void {
  program
    .command('up')
    .summary('start watching; says what is found, done and why')
    .description(
      'Starts the database and the daemon and finds every agent of this user. Says whom it may type to and how to stop ' +
        'that; then, line by line, what is found, what is done and because of what, and what will be done and when. For ' +
        'two minutes after the first start, and ten seconds after a later one, rules do nothing (`help start`). Ctrl-C ' +
        'stops everything again.',
    )
    .option('-d, --detach', 'return once the first sweep is done and go on in the background')
    .addOption(
      new Option('--tmux-socket <name|path>', 'watch only this tmux server (may be repeated)')
        .argParser((value: string, all: string[]) => [...all, value])
        .default([], 'all of yours'),
    )
    .option('--watch-only', 'in this run only watch: type nothing, call nobody, say what would be done')
    .option('-v, --verbose', 'also everything that agents do: every prompt, tool, reply and state')
    .option('--no-create-user', noCreateUser)
    .action((options: UpOptions) => (options.detach ? upDetached(options) : upHere(options)));
}

async function upHere(options: UpOptions): Promise<void> {
  const home = findHome(process.env);
  let daemon: RunningDaemon | null = null;
  let isAskedToStop = false;
  const stop = () => {
    isAskedToStop = true;
    daemon?.stop(false);
  };
  // Before anybody can know that it runs: a stop in the middle of the start must not leave the database behind.
  // A closed terminal is such a stop, and so is a reader who is gone, as in `up | head`.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
  process.stdout.removeAllListeners('error').on('error', stop);
  // Only here: who starts one in the background, and `check` beside one that runs, need nothing of it.
  const stream = new Stream(print);
  const { startDaemon } = await import('../../../daemon/start.ts');
  const started = await startDaemon({
    home,
    places: { file: process.env.WATCHKEEPER_CONFIG ?? null, home: os.homedir(), projectDir: process.cwd() },
    environment: process.env,
    tmuxSockets: options.tmuxSocket,
    createUser: options.createUser,
    progress: say,
    watchOnly: options.watchOnly === true,
    isOnce: false,
    event: (event) => void (options.verbose && stream.event(event)),
    news: (news) => stream.news(news),
    notice: (text) => say(withOwnTimes(text)),
  });
  if (!started.ok) throw new CommandFailure(exitCodes[started.reason], started.message, started.fix ?? null);
  daemon = started.value;
  if (isAskedToStop) daemon.stop(false);
  else say(`watching, data in ${home.dir}${databaseElsewhere(home)}; Ctrl-C stops`);
  await daemon.stopped;
  say('stopped');
}

async function upDetached(options: UpOptions): Promise<void> {
  const home = findHome(process.env);
  const before = runningDaemon(home);
  if (before !== null) {
    throw new CommandFailure(
      exit.no,
      `a daemon (pid ${before.pid}) already watches ${home.dir}`,
      'stop it with `watchkeeper down`',
    );
  }
  const main = fileURLToPath(new URL('../../../../bin/watchkeeper', import.meta.url));
  const sockets = options.tmuxSocket.flatMap((socket) => ['--tmux-socket', socket]);
  // A pipe rather than a file: the disk may be full, and after the start nobody listens any more.
  const user = options.createUser ? [] : ['--no-create-user'];
  const watch = options.watchOnly ? ['--watch-only'] : [];
  const child = spawn(process.execPath, [main, 'up', ...sockets, ...user, ...watch], {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let messages = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    messages = (messages + text).slice(-messageCharsMax);
  });
  let code: number | null = null;
  child.on('close', (status) => {
    code = status ?? exit.no;
  });
  try {
    const endMs = performance.now() + detachMs;
    while (code === null && performance.now() < endMs) {
      if (runningDaemon(home)?.pid === child.pid) {
        // A user that was made stays, and a file that is left out has to be put right: said here too.
        for (const line of messages.split('\n'))
          if (/ created the system user | left out, and its agents only /.test(line)) say(withoutName(line));
        return say(
          `watching in the background (pid ${child.pid})${databaseElsewhere(home)}; \`watchkeeper status\` shows what it sees`,
        );
      }
      await sleep(50);
    }
  } finally {
    child.stderr.destroy();
    child.unref();
  }
  if (code === null)
    throw new CommandFailure(exit.timeout, 'the daemon is not ready after 30 s', `see ${home.logFile}`);
  const last = withoutName(messages.trim().split('\n').at(-1) ?? '');
  throw new CommandFailure(code, last || `the daemon ended at once: see ${home.logFile}`);
}

/** Root's may be where its own user can get at it. */
function databaseElsewhere(home: Home): string {
  const folder = process.env.DATABASE_URL ? null : databaseFolder(home);
  return folder === null || path.dirname(folder) === home.dir ? '' : `, its database in ${folder}`;
}

function withoutName(line: string): string {
  return line.replace(/^watchkeeper: /, '');
}
