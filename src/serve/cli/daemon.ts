import { askControl } from '../../daemon/control.ts';
import type { ControlRequest } from '../../daemon/requests.ts';
import type { AgentDocument, StatusDocument } from '../../daemon/status.ts';
import { type DaemonRecord, findHome, runningDaemon } from '../../home/home.ts';
import { CommandFailure, exit } from './outcome.ts';

const answerMs = 5_000;

export function needDaemon(): DaemonRecord {
  const daemon = runningDaemon(findHome(process.env));
  if (daemon === null)
    throw new CommandFailure(exit.noDaemon, 'no daemon is running', 'start it with `watchkeeper up`');
  return daemon;
}

export async function askDaemon<T>(request: ControlRequest, timeoutMs = answerMs): Promise<T> {
  const answer = await askControl<T>(needDaemon().sockets.control, request, timeoutMs);
  if (!answer.ok && answer.reason === 'refused') throw new CommandFailure(exit.usage, answer.message, null);
  if (!answer.ok) throw new CommandFailure(exit.noDaemon, answer.message, 'see `watchkeeper doctor`');
  return answer.value;
}

export function askStatus(): Promise<StatusDocument> {
  return askDaemon<StatusDocument>({ ask: 'status' });
}

export function needAgent(status: StatusDocument, name: string): AgentDocument {
  const found = status.agents.find((agent) => agent.agent === name);
  if (found !== undefined) return found;
  const names = status.agents.map((agent) => agent.agent);
  const known = names.length === 0 ? 'none is known yet' : `known: ${names.slice(0, 10).join(', ')}`;
  throw new CommandFailure(exit.notFound, `no agent \`${name}\``, known);
}
