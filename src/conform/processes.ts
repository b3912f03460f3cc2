// What runs, read from /proc: we follow the processes we started, and prove that none is left.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

interface Process {
  pid: number;
  parent: number;
}

export function isRunning(pid: number): boolean {
  return stateOf(pid) !== null;
}

/** The program a process runs, or null when it is gone or not ours to read. */
export function programOf(pid: number): string | null {
  return linkOf(pid, 'exe');
}

function linkOf(pid: number, name: 'exe' | 'cwd'): string | null {
  try {
    return readlinkSync(`/proc/${pid}/${name}`);
  } catch {
    return null;
  }
}

export function commandLineOf(pid: number): string {
  return wordsOf(pid).join(' ').trim();
}

export function wordsOf(pid: number): string[] {
  return readOrEmpty(`/proc/${pid}/cmdline`).split('\0').slice(0, -1);
}

export function isInTmux(pid: number): boolean {
  return readOrEmpty(`/proc/${pid}/environ`)
    .split('\0')
    .some((variable) => variable.startsWith('TMUX='));
}

/** The process and everything below it. */
export function processTree(root: number): number[] {
  const all = allProcesses();
  const found = [root];
  for (const pid of found) found.push(...all.filter((process) => process.parent === pid).map((process) => process.pid));
  return found.filter(isRunning);
}

/** Every process that has a folder of ours in its environment or command line, or works in it, whoever its parent is now. */
export function processesIn(dir: string): number[] {
  return allProcesses()
    .map(({ pid }) => pid)
    .filter((pid) => pid !== process.pid && isRunning(pid))
    .filter((pid) =>
      `${readOrEmpty(`/proc/${pid}/environ`)} ${commandLineOf(pid)} ${linkOf(pid, 'cwd')}`.includes(dir),
    );
}

function allProcesses(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: Number(statFields(Number(name))?.[1] ?? -1) }));
}

/** One letter as in ps (R, S, T, …), or null when the process is gone; a zombie counts as gone. */
function stateOf(pid: number): string | null {
  const state = statFields(pid)?.[0] ?? 'Z';
  return state === 'Z' || state === 'X' ? null : state;
}

/** /proc/<pid>/stat from field 3 on; the name before it may hold blanks and brackets. */
function statFields(pid: number): string[] | null {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  return stat === '' ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
