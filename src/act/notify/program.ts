import { type ChildProcess, spawn } from 'node:child_process';
import { shown } from '../../model/text.ts';
import type { Sent } from './channel.ts';

export interface Program {
  argv: readonly string[];
  stdin: string | null;
  /** Variables it gets besides PATH, HOME and LANG: the daemon's environment holds secrets of other channels. */
  variables: readonly string[];
  environment: NodeJS.ProcessEnv;
  timeoutMs: number;
}

const basicVariables = ['PATH', 'HOME', 'LANG'];
const fallbackPath = '/usr/local/bin:/usr/bin:/bin';

/** Runs it without a shell, in a process group of its own. Its output is nobody's business and thrown away. */
export function runProgram({ argv, stdin, variables, environment, timeoutMs }: Program): Promise<Sent> {
  const [file, ...args] = argv;
  if (file === undefined || file === '') return Promise.resolve({ ok: false, reason: 'the command is empty' });
  const env: NodeJS.ProcessEnv = { PATH: fallbackPath };
  for (const name of [...basicVariables, ...variables]) {
    const value = environment[name];
    if (value !== undefined && value !== '') env[name] = value;
  }
  return new Promise((resolve) => {
    let child: ChildProcess;
    try {
      // The daemon's own directory is some project's: nothing there may become part of the program.
      child = spawn(file, args, { cwd: '/', env, detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    } catch (error) {
      resolve({ ok: false, reason: startFailure(file, error) });
      return;
    }
    const timer = setTimeout(() => {
      killGroup(child);
      end({ ok: false, reason: `the command did not end within ${timeoutMs / 1000} s and was killed` });
    }, timeoutMs);
    const end = (sent: Sent) => {
      clearTimeout(timer);
      child.stdin?.destroy();
      resolve(sent);
    };
    child.on('error', (error) => end({ ok: false, reason: startFailure(file, error) }));
    // Not `close`: a grandchild may hold on to the pipe.
    child.on('exit', (code, signal) => {
      if (code === 0) return end({ ok: true });
      end({ ok: false, reason: code === null ? `the command ended by ${signal}` : `the command exited with ${code}` });
    });
    // A program need not read what it is given.
    child.stdin?.on('error', () => {});
    child.stdin?.end(stdin ?? '');
  });
}

function killGroup(child: ChildProcess): void {
  // Without a pid nothing was started, and -0 would be the daemon's own group.
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It ended in this very moment.
  }
}

function startFailure(file: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  const name = shown(file, 200);
  if (code === 'ENOENT') return `${name} was not found: an absolute path or a program on PATH is needed`;
  if (code === 'EACCES') return `${name} may not be executed`;
  return `${name} could not be started (${code})`;
}
