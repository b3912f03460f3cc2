import { isEntryOf } from '../clients/client.ts';
import type { FreshLook } from '../model/delivery.ts';
import type { Files, Processes, ProcessInfo } from '../model/world.ts';
import { isDead, registryBytesMax, type SeenAgent } from './fleet.ts';

const parentsMax = 20;

/** The agent in this very moment, for the instant before something is typed. */
export function lookNow(
  seen: SeenAgent,
  panePid: number | null,
  processes: Processes,
  files: Files,
): Omit<FreshLook, 'atSetup'> {
  const info = processes.info(seen.process.pid);
  const alive = info !== null && info.startTicks === seen.process.startTicks && !isDead(info);
  if (!alive) return { alive: false, foreground: false, activity: null, inPane: false };
  const foreground = info.runState !== 'T' && info.terminalGroup === info.processGroup;
  const registry = seen.client.sources.registry;
  const file = seen.configDir === null ? null : (registry?.file(seen.configDir, info.pid) ?? null);
  const read = file === null ? null : files.readSmall(file, registryBytesMax);
  const entry = read?.ok ? (registry?.parse(read.text) ?? null) : null;
  const activity = entry !== null && isEntryOf(entry, info) ? entry.activity : null;
  return { alive, foreground, activity, inPane: panePid !== null && readsThePane(info, panePid, processes) };
}

/**
 * Below the pane's process, and in its terminal: a program such as `script` gives what it runs a terminal of its own, and takes
 * itself what is typed into the pane.
 */
function readsThePane(info: ProcessInfo, panePid: number, processes: Processes): boolean {
  const isItsTerminal = info.terminal !== 0 && processes.info(panePid)?.terminal === info.terminal;
  return isItsTerminal && isBelow(info.pid, panePid, processes);
}

function isBelow(pid: number, ancestor: number, processes: Processes): boolean {
  let current = pid;
  for (let step = 0; step < parentsMax && current > 1; step += 1) {
    if (current === ancestor) return true;
    current = processes.info(current)?.ppid ?? 0;
  }
  return false;
}
