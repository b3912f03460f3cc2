import { closeSync, openSync, readlinkSync, readSync, statSync } from 'node:fs';
import type { Processes, ProcessInfo } from '../model/world.ts';

/** Linux gives every clock in /proc in hundredths of a second, whatever the kernel ticks at. */
const ticksPerSecond = 100;
const environmentBytesMax = 1024 * 1024;
const shared = Buffer.alloc(64 * 1024);

/** Processes as Linux's /proc shows them. Every read may fail: a process can go at any moment. */
export function linuxProcesses(): Processes {
  const bootId = readText('/proc/sys/kernel/random/boot_id')?.trim() ?? 'unknown';
  const uid = process.getuid?.() ?? -1;
  return {
    bootId,
    uid,
    info: (pid) => readInfo(pid, bootId),
    goesOn: (pid) => /\) [^ZXT] [^)]*$/.test(readStat(pid) ?? ''),
    children: (pid) => readChildren(pid),
    executable: (pid) => readLink(`/proc/${pid}/exe`),
    directory: (pid) => readLink(`/proc/${pid}/cwd`),
    arguments: (pid) => splitZero(readText(`/proc/${pid}/cmdline`)),
    environment: (pid, names) => readEnvironment(pid, names),
    startedAtMs: (info) => bootMs() + (Number(info.startTicks) * 1000) / ticksPerSecond,
  };
}

/** Read anew each time: it moves with every step of the clock. */
function bootMs(): number {
  return Number(/^btime (\d+)$/m.exec(readText('/proc/stat') ?? '')?.[1] ?? 0) * 1000;
}

function readInfo(pid: number, bootId: string): ProcessInfo | null {
  // An exception for each of thousands of stale registry files would be most of the daemon's work.
  const owner = statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid;
  if (owner === undefined) return null;
  const stat = readStat(pid);
  if (stat === null) return null;
  // The command may hold blanks and brackets, so the fields are counted from the last bracket on.
  const open = stat.indexOf('(');
  const close = stat.lastIndexOf(')');
  if (open < 0 || close < open) return null;
  const fields = stat.slice(close + 2).split(' ', 20);
  const [runState, ppid, processGroup, , terminal, terminalGroup] = fields;
  const startTicks = fields[19];
  if (startTicks === undefined) return null;
  // A process that keeps others from looking into it belongs to root by its folder.
  const uid = owner === 0 ? realOwner(pid, startTicks) : owner;
  if (runState === undefined || uid === undefined) return null;
  return {
    bootId,
    pid,
    startTicks,
    ppid: Number(ppid),
    uid,
    command: stat.slice(open + 1, close),
    runState,
    processGroup: Number(processGroup),
    terminal: Number(terminal),
    terminalGroup: Number(terminalGroup),
  };
}

const owners = new Map<string, number>();
const ownersMax = 10_000;

/** Asked once for each process: the file that tells is the dearest to read. */
function realOwner(pid: number, startTicks: string): number | undefined {
  const key = `${pid}:${startTicks}`;
  const known = owners.get(key);
  if (known !== undefined) return known;
  const uid = /^Uid:\s+(\d+)/m.exec(readText(`/proc/${pid}/status`) ?? '')?.[1];
  if (uid === undefined) return undefined;
  if (owners.size >= ownersMax) owners.clear();
  owners.set(key, Number(uid));
  return Number(uid);
}

function readChildren(pid: number): number[] {
  return (readText(`/proc/${pid}/task/${pid}/children`) ?? '').split(' ').filter(Boolean).map(Number);
}

function readEnvironment(pid: number, names: readonly string[]): Record<string, string> | null {
  const variables = splitZero(readText(`/proc/${pid}/environ`, environmentBytesMax));
  if (variables === null) return null;
  const kept: Record<string, string> = {};
  for (const variable of variables) {
    const equals = variable.indexOf('=');
    const name = variable.slice(0, equals);
    if (equals > 0 && names.includes(name)) kept[name] = variable.slice(equals + 1);
  }
  return kept;
}

function splitZero(text: string | null): string[] | null {
  return text === null ? null : text.split('\0').filter((part) => part !== '');
}

/** One line, which comes whole with the first read: it is asked for again and again. */
function readStat(pid: number): string | null {
  return readFrom(`/proc/${pid}/stat`, (fd) =>
    shared.toString('utf8', 0, readSync(fd, shared, 0, shared.length, null)),
  );
}

function readText(path: string, bytesMax = 64 * 1024): string | null {
  return readFrom(path, (fd) => {
    // Files here have no size: readFileSync would look for one and then read piece by piece.
    const buffer = bytesMax > shared.length ? Buffer.allocUnsafe(bytesMax) : shared;
    let filled = 0;
    for (let count = 1; count > 0 && filled < bytesMax; filled += count) {
      count = readSync(fd, buffer, filled, Math.min(buffer.length, bytesMax) - filled, null);
    }
    return buffer.toString('utf8', 0, filled);
  });
}

function readFrom(path: string, read: (fd: number) => string): string | null {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return null;
  }
  try {
    return read(fd);
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}

function readLink(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
