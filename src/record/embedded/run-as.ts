import { type StdioOptions, spawn } from 'node:child_process';

export interface OsUser {
  uid: number;
  gid: number;
  name: string;
}

export interface RunEnd {
  code: number | null;
  /** What exec itself said: EACCES, ENOENT … */
  execError: string | null;
  output: string;
}

const outputCharsMax = 20_000;

/** The server must not see our PGPORT, PGDATA, LD_PRELOAD or locale: nothing but WATCHKEEPER_HOME changes behaviour. */
const environment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

export function spawnAs(
  user: OsUser | null,
  argv: readonly [string, ...string[]],
  options: { cwd: string; stdio: StdioOptions; detached?: boolean; env?: Record<string, string> },
) {
  const [file, ...args] = argv;
  return spawn(file, args, {
    cwd: options.cwd,
    stdio: options.stdio,
    detached: options.detached ?? false,
    env: { ...environment, ...options.env },
    ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
  });
}

export function runAs(
  user: OsUser | null,
  argv: readonly [string, ...string[]],
  options: { cwd: string; timeoutMs: number },
): Promise<RunEnd> {
  return new Promise((resolve) => {
    const child = spawnAs(user, argv, { cwd: options.cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const keep = (chunk: Buffer) => {
      if (output.length < outputCharsMax) output += chunk.toString('utf8');
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs);
    child.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      resolve({ code: null, execError: error.code ?? error.message, output });
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code, execError: null, output });
    });
  });
}
