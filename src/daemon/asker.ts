import os from 'node:os';
import { type Caller, humanNamed } from '../model/caller.ts';
import { linuxProcesses } from '../sense/processes.ts';
import type { Asker } from './requests/read.ts';

const processesMax = 64;

/** Who asks, as this process sees itself: the account, and every process it runs below. */
export function ownAsker(): Asker {
  const processes = linuxProcesses();
  const above: Asker['processes'] = [];
  let info = processes.info(process.pid);
  while (info !== null && info.pid > 1 && above.length < processesMax) {
    above.push({ pid: info.pid, startTicks: info.startTicks });
    info = processes.info(info.ppid);
  }
  return { user: userName(), processes: above };
}

/** Who has this command do something without a daemon, which alone knows agents. */
export function ownCaller(): Caller {
  return humanNamed(userName());
}

/** In a container there may be an account without a name. */
function userName(): string {
  try {
    return os.userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? '?'}`;
  }
}
