import { randomBytes, randomUUID } from 'node:crypto';
import type { AgentView } from '../model/agent.ts';
import type { Caller } from '../model/caller.ts';
import type { Handoff } from '../model/handoff.ts';

/** A handoff that has just been requested. */
export function newHandoff(
  view: AgentView,
  trigger: Handoff['trigger'],
  by: Caller,
  { recipe, file, atMs }: { recipe: string; file: string; atMs: number },
): Handoff {
  return {
    id: randomUUID(),
    ...{ host: view.host, agent: view.agent, project: view.project },
    trigger,
    by,
    recipe,
    nonce: randomBytes(4).toString('hex'),
    file,
    cwd: view.cwd ?? '/',
    oldSession: view.sessionId ?? '',
    newSession: null,
    requestedMs: atMs,
    steps: [{ step: 'requested', atMs, reason: null }],
    sha256: null,
    sentBack: 0,
    acked: false,
  };
}
