import { readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { readOwnText } from '../../act/own-text.ts';
import { type OsProcess, readProcess } from '../own-process.ts';
import type { EmbeddedPlace } from './place.ts';
import { clusterName } from './settings.ts';

export interface ServerProcess {
  pid: number;
  startTicks: string;
}

/** The pid in the cluster's postmaster.pid, whatever runs under it by now. */
export function recordedPid(place: EmbeddedPlace): number | null {
  try {
    const pid = Number(readOwnText(path.join(place.cluster, 'postmaster.pid')).split('\n')[0]);
    return Number.isInteger(pid) && pid > 1 ? pid : null;
  } catch {
    return null;
  }
}

/** The live server of this cluster, and no other process that got its pid since. */
export function findPostmaster(place: EmbeddedPlace): ServerProcess | null {
  const pid = recordedPid(place);
  const found = pid === null ? null : readProcess(pid);
  if (found === null || !belongs(found, place)) return null;
  return { pid: found.pid, startTicks: found.startTicks };
}

export function clusterProcesses(place: Pick<EmbeddedPlace, 'cluster'>): ServerProcess[] {
  const all: ServerProcess[] = [];
  for (const name of readdirSync('/proc')) {
    const found = /^\d+$/.test(name) ? readProcess(Number(name)) : null;
    if (found !== null && belongs(found, place)) all.push({ pid: found.pid, startTicks: found.startTicks });
  }
  return all;
}

/** false: it was gone before. The look right before keeps the signal from a process that got the pid since. */
export function signal(target: ServerProcess, name: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): boolean {
  if (!stillRuns(target)) return false;
  try {
    return process.kill(target.pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

export function stillRuns(target: ServerProcess): boolean {
  return readProcess(target.pid)?.startTicks === target.startTicks;
}

function belongs(found: OsProcess, place: Pick<EmbeddedPlace, 'cluster'>): boolean {
  try {
    // Whoever asks: root may ask about the server of another user.
    if (found.uid !== statSync(place.cluster).uid) return false;
  } catch {
    return false;
  }
  try {
    // A person's shell or editor may stand there as well.
    const isServer = /^postgres(?: \(deleted\))?$/.test(path.basename(readlinkSync(`/proc/${found.pid}/exe`)));
    return isServer && readlinkSync(`/proc/${found.pid}/cwd`) === realpathSync(place.cluster);
  } catch {
    // root without CAP_SYS_PTRACE, as in a container, cannot see another user's working directory.
    return namesCluster(found.pid, place);
  }
}

function namesCluster(pid: number, place: Pick<EmbeddedPlace, 'cluster'>): boolean {
  try {
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    if (args[0]?.startsWith(`postgres: ${clusterName(place.cluster)}: `)) return true;
    return path.basename(args[0] ?? '') === 'postgres' && args[args.indexOf('-D') + 1] === place.cluster;
  } catch {
    return false;
  }
}
