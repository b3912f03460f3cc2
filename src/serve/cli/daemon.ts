import { type AskFailure, askControl } from '../../daemon/control.ts';
import type { RequestDocument, RequestInput, RequestName } from '../../daemon/requests/table.ts';
import { type DaemonRecord, findHome, isStopped, runningDaemon } from '../../home/home.ts';
import { CommandFailure, exit } from './outcome.ts';

const answerMs = 5_000;

export function needDaemon(): DaemonRecord {
  const daemon = runningDaemon(findHome(process.env));
  if (daemon === null)
    throw new CommandFailure(exit.noDaemon, 'no daemon is running', 'start it with `watchkeeper up`');
  if (isStopped(daemon)) {
    const { pid } = daemon;
    throw new CommandFailure(
      exit.noDaemon,
      `the daemon (pid ${pid}) is stopped`,
      `\`kill -CONT ${pid}\` lets it go on`,
    );
  }
  return daemon;
}

const codes: Record<AskFailure, number> = {
  'bad-request': exit.usage,
  'not-allowed': exit.no,
  'no-agent': exit.notFound,
  'not-found': exit.notFound,
  impossible: exit.no,
  'no-database': exit.noDatabase,
  failed: exit.noDaemon,
  gone: exit.noDaemon,
  silent: exit.noDaemon,
};

/** What is done to an agent may have been done before the daemon fell silent: to say it again could do it twice. */
const deeds: ReadonlySet<RequestName> = new Set<RequestName>(['prompt', 'compact', 'interrupt', 'handoff']);

/** Asks by a name of the table; what comes back is its document. */
export async function askDaemon<Name extends RequestName>(
  ask: Name,
  input: RequestInput<Name>,
  timeoutMs = answerMs,
): Promise<RequestDocument<Name>> {
  const answer = await askControl(needDaemon().sockets.control, { ask, ...input }, timeoutMs);
  if (answer.ok) return answer.value;
  const isTrial = 'dryRun' in input && input.dryRun === true;
  if (answer.reason === 'silent' && deeds.has(ask) && !isTrial)
    throw new CommandFailure(
      exit.uncertain,
      answer.message,
      'it may have been done all the same: see `watchkeeper audit`',
    );
  const isSilent = answer.reason === 'silent' || answer.reason === 'gone';
  const wayOut = answer.fix ?? (isSilent ? 'see `watchkeeper doctor`' : null);
  throw new CommandFailure(codes[answer.reason], answer.message, wayOut);
}
