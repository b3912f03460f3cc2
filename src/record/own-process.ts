import { readFileSync } from 'node:fs';
import type { ProcessId } from '../model/world.ts';

export interface OsProcess {
  pid: number;
  startTicks: string;
  uid: number;
  /** By SIGSTOP or Ctrl-Z: it does nothing until it is let go on. */
  isStopped: boolean;
}

/** null: no such process, or one that is dead and only waits for its parent. */
export function readProcess(pid: number): OsProcess | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The command in the second field may itself hold blanks and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const runState = fields[0];
    const startTicks = fields[19];
    const uid = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    if (runState === undefined || startTicks === undefined || uid === undefined) return null;
    if (runState === 'Z' || runState === 'X') return null;
    return { pid, startTicks, uid: Number(uid), isStopped: runState === 'T' };
  } catch {
    return null;
  }
}

function readBootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return null;
  }
}

/** null where there is no /proc, so on anything but Linux. */
export function ownProcess(): ProcessId | null {
  const bootId = readBootId();
  const self = readProcess(process.pid);
  return bootId === null || self === null ? null : { bootId, pid: self.pid, startTicks: self.startTicks };
}

export function isAlive(wanted: ProcessId): boolean {
  return wanted.bootId === readBootId() && readProcess(wanted.pid)?.startTicks === wanted.startTicks;
}
