import path from 'node:path';
import { ownHost } from '../home/host-id.ts';
import { fail, ok, type Result } from '../model/result.ts';
import type { StoredSpawn } from '../model/spawn.ts';
import { shown } from '../model/text.ts';
import { findAgent } from '../record/known-agent.ts';
import { type QueryFailure, withClient } from '../record/queries.ts';
import { addSpawn, endSpawn, type LivingAgent, listSpawns, livingAgents } from '../record/spawn-track.ts';
import { ownFiles } from '../sense/files.ts';
import { linuxProcesses } from '../sense/processes.ts';

/** `spawn-track` writes the table itself, so that it needs no daemon; a running one finds it there. */

export interface TrackRequest {
  project: string;
  taskId: string;
  type: string | null;
  description: string | null;
  output: string | null;
  agent: string | null;
  replace: boolean;
}

export type TrackFailure = QueryFailure | 'taken' | 'client' | 'unsafe' | 'none' | 'over';

const columns = { project: 50, taskId: 100, type: 50 };
const descriptionCharsMax = 300;
const pathCharsMax = 4_096;
const ancestorsMax = 64;

export async function trackSpawn(
  url: string,
  request: TrackRequest,
): Promise<Result<{ parent: string | null; output: string | null }, TrackFailure>> {
  const { project, taskId, type } = request;
  const unsafe =
    whyUnsafe('project', project, columns.project) ??
    whyUnsafe('task id', taskId, columns.taskId) ??
    (type === null ? null : whyUnsafe('type', type, columns.type));
  if (unsafe !== null) return fail('unsafe', unsafe);
  const output = request.output === null ? null : path.resolve(request.output);
  const unusable = request.output === null ? null : whyUnusable(request.output);
  if (unusable !== null) return fail('unsafe', unusable, 'name the file it writes to; it need not be there yet');
  return withClient<{ parent: string | null; output: string | null }, TrackFailure>(url, async (client) => {
    const agents = await livingAgents(client, ownHost());
    const named = request.agent === null ? null : await findAgent(client, ownHost(), request.agent);
    if (named?.ok === false) return named;
    const isOther = named !== null && named.value.host !== ownHost();
    const parent = isOther ? null : findParent({ ...request, agent: named?.value.agent ?? null }, agents);
    if (isOther) return fail('no-agent', `\`${request.agent}\` is on another host`, 'track its work there');
    if (request.agent !== null && parent === null) return fail('no-agent', `no agent \`${request.agent}\``);
    const added = await addSpawn(
      client,
      ownHost(),
      {
        agent: parent?.name ?? null,
        project,
        taskId,
        taskType: type,
        description: request.description === null ? null : shown(request.description, descriptionCharsMax),
        output,
        sessionId: parent?.sessionId ?? null,
      },
      request.replace,
    );
    if (added === 'added') return ok({ parent: parent?.name ?? null, output });
    return added === 'client'
      ? fail('client', `${taskId} is an agent's own background work, which is tracked already`)
      : fail('taken', `${project} has a spawn ${taskId} already`, '--replace begins it anew');
  });
}

export function endTracked(
  url: string,
  spawn: { project: string; taskId: string; status: 'finished' | 'failed'; reason: string | null },
): Promise<Result<void, TrackFailure>> {
  const { project, taskId, status } = spawn;
  const reason = spawn.reason === null ? null : shown(spawn.reason, descriptionCharsMax);
  return withClient<void, TrackFailure>(url, async (client) => {
    const ended = await endSpawn(client, ownHost(), { project, taskId, status, reason });
    if (ended === 'ended') return ok(undefined);
    if (ended === 'none')
      return fail('none', `${project} has no spawn ${taskId}`, '`watchkeeper spawn-track list --all` lists them');
    if (ended === 'client')
      return fail('client', `${taskId} is an agent's own background work`, 'its client tells when it ends');
    return fail('over', `${taskId} ended otherwise already`, 'begin it anew with `spawn-track add --replace`');
  });
}

export function trackedSpawns(
  url: string,
  filter: { project: string | null; all: boolean; limit: number },
): Promise<Result<StoredSpawn[], QueryFailure>> {
  return withClient(url, async (client) => ok(await listSpawns(client, ownHost(), filter)));
}

function whyUnsafe(what: string, text: string, charsMax: number): string | null {
  if (text.trim() === '') return `the ${what} is empty`;
  if (text.length > charsMax) return `the ${what} is longer than ${charsMax} characters`;
  return shown(text) === text ? null : `the ${what} holds characters that cannot be shown, or a secret`;
}

/** What can never grow as an output does. A link may be gone by the time it is looked at. */
function whyUnusable(output: string): string | null {
  if (output.trim() === '') return 'the output path is empty';
  if (output.length > pathCharsMax) return `the output path is longer than ${pathCharsMax} characters`;
  const processes = linuxProcesses();
  const kind = ownFiles(processes.uid).info(path.resolve(output))?.kind;
  if (kind === 'directory') return `${shown(output)} is a directory`;
  return kind === 'other' ? `${shown(output)} is no regular file` : null;
}

/** Who is asked about it: the one named, `{project}-ps`, the agent this command runs under, the only one of the project. */
function findParent(request: Pick<TrackRequest, 'agent' | 'project'>, agents: LivingAgent[]): LivingAgent | null {
  if (request.agent !== null) return agents.find(({ name }) => name === request.agent) ?? null;
  const named = agents.find(({ name }) => name === `${request.project}-ps`);
  if (named !== undefined) return named;
  const above = ancestor(agents);
  if (above !== null) return above;
  const ofProject = agents.filter(({ project }) => project === request.project);
  return ofProject.length === 1 ? (ofProject[0] ?? null) : null;
}

function ancestor(agents: LivingAgent[]): LivingAgent | null {
  const processes = linuxProcesses();
  let info = processes.info(process.pid);
  for (let depth = 0; info !== null && info.pid > 1 && depth < ancestorsMax; depth += 1) {
    const { pid, startTicks, bootId } = info;
    const found = agents.find(
      ({ process: own }) => own.pid === pid && own.startTicks === startTicks && own.bootId === bootId,
    );
    if (found !== undefined) return found;
    info = processes.info(info.ppid);
  }
  return null;
}
