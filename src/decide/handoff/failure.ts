import { commandsOf } from '../../clients/clients.ts';
import type { Refusal } from '../../model/action.ts';
import type { ClientName } from '../../model/agent.ts';
import type { Handoff } from '../../model/handoff.ts';
import { shown } from '../../model/text.ts';
import type { HandoffFailure } from './moves.ts';

/** Nobody is told of these. */
type Quiet = 'ended' | 'session-changed' | 'compacted';

/**
 * Why a handoff failed.
 * @public The manual lists them: `npm run docs`.
 */
export const failureTexts: Record<
  Exclude<HandoffFailure, Quiet | Exclude<Refusal, 'busy' | 'stale' | 'unknown-command'>>,
  string
> = {
  dialog: 'a dialog was open and nobody answered it',
  busy: 'it did not come to the end of its turn',
  unknown: 'its state could not be read',
  service: 'the service of the model failed',
  'no-document': 'it wrote no document',
  poor: 'its document was still not good after it was sent back',
  stale: 'it went on working after it wrote the document',
  changing: 'its document kept changing',
  'not-cleared': 'the client did not clear its context',
  'not-confirmed': 'the fresh context did not take up the document',
  'taken-over': 'somebody else gave the fresh context other work',
  'unknown-command': 'the client does not know the command of its recipe',
  'no-permission-hook': 'it asks before it writes, and no hook of ours can answer for you (`watchkeeper init` adds it)',
  'no-recipe': 'its recipe is no longer in the configuration',
  untrusted: 'the database had a handoff of it that does not fit the agent or the ledger; nothing was done for it',
  uncertain: 'it is not known whether a prompt arrived',
};

/** Of rows that Watchkeeper did not write so: nothing in them is anything to rely on. */
export function oddWords(agent: string, ids: readonly string[]): string {
  const which = ids.slice(0, 3).join(', ') + (ids.length > 3 ? ` and ${ids.length - 3} more` : '');
  return (
    `the database says that a handoff of it is open, in a row that Watchkeeper did not write so (${which}); nothing is done by ` +
    `it. Now that you know, it is ended: watchkeeper handoff ${shown(agent, 200)} can begin a new one`
  );
}

export function failureWords(handoff: Handoff, client: ClientName | null): string {
  const reason = handoff.steps.at(-1)?.reason ?? '';
  // Nothing it names is anything to rely on.
  if (reason === 'untrusted')
    return `${failureTexts[reason]}. Its steps: watchkeeper handoffs ${shown(handoff.agent, 200)}`;
  const before = handoff.steps.at(-2)?.step ?? 'requested';
  const why = Object.hasOwn(failureTexts, reason)
    ? failureTexts[reason as keyof typeof failureTexts]
    : `it was refused (${shown(reason, 60)})`;
  return `its handoff failed at ${before}: ${why}; ${whereItIs(handoff)}. ${wayOut(handoff, client)}`;
}

/** Cleared, and the fresh context does not let itself be told. It is tried further. */
export function stuckWords(handoff: Handoff, refusal: string, client: ClientName | null): string {
  const why = `the resume prompt is refused (${shown(refusal, 60)}), and tried again`;
  return `its context was cleared, but ${why}; ${whereItIs(handoff)}. ${wayOut(handoff, client)}`;
}

function whereItIs({ id, file, sha256, oldSession }: Handoff): string {
  const copy = sha256 === null ? 'no copy stored' : `its copy is stored as handoff ${id}`;
  return `document ${shown(file, 500)} (${copy}); session before: ${shown(oldSession, 80)}`;
}

function wayOut({ agent, oldSession, newSession }: Handoff, client: ClientName | null): string {
  const steps = `its steps: watchkeeper handoffs ${shown(agent, 200)}`;
  if (newSession === null)
    return `Nothing was cleared: look at it, or ask again with watchkeeper handoff ${shown(agent, 200)}; ${steps}`;
  const resume =
    (client === null ? null : commandsOf(client))?.resume?.(shown(oldSession, 80)).text ?? 'its command for it';
  const back = `${resume}, typed to it, brings the old one back`;
  return `Its context was cleared: ${back}; or have it read the document; ${steps}`;
}
