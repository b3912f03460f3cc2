import type { RegistryActivity } from '../../model/agent.ts';
import type { RegistryEntry } from '../client.ts';
import { asNumber, asString, asTimeMs, parseObject } from '../json.ts';

/** `$CLAUDE_CONFIG_DIR/sessions/<pid>.json`, which the client rewrites whenever its status changes. Undocumented. */
export function parseRegistry(text: string): RegistryEntry | null {
  const entry = parseObject(text);
  const pid = asNumber(entry?.pid);
  const sessionId = asString(entry?.sessionId);
  if (entry === null || pid === null || !Number.isInteger(pid) || pid <= 0) return null;
  // The id becomes part of a path.
  if (sessionId === null || !/^[0-9a-f-]{8,64}$/i.test(sessionId)) return null;
  return {
    pid,
    startTicks: asString(entry.procStart),
    sessionId,
    cwd: asString(entry.cwd),
    version: asString(entry.version),
    startedAtMs: asTimeMs(entry.startedAt),
    interactive: entry.kind === undefined || entry.kind === 'interactive',
    activity: activityOf(asString(entry.status), asString(entry.waitingFor)),
    sinceMs: asTimeMs(entry.statusUpdatedAt) ?? asTimeMs(entry.updatedAt),
  };
}

function activityOf(status: string | null, waitingFor: string | null): RegistryActivity {
  if (status === 'idle' || status === 'busy' || status === 'shell') return status;
  if (status !== 'waiting') return 'unclear';
  if (waitingFor === 'permission prompt') return 'waiting-permission';
  return waitingFor === 'input needed' ? 'waiting-question' : 'waiting-dialog';
}
