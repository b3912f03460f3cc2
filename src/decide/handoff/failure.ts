import type { Handoff, HandoffStep } from '../../model/handoff.ts';
import { shown } from '../../model/text.ts';

/** Why a handoff failed and what a person does now, in a sentence or two. */
const reasons: Readonly<Record<string, string>> = {
  dialog: 'a dialog was open and nobody answered it',
  busy: 'it did not come to the end of its turn',
  unknown: 'it could not be seen what it does',
  service: 'the service of the model failed',
  'no-document': 'it wrote no document',
  poor: 'its document was not good, also after it was sent back',
  stale: 'it went on working after its document',
  changing: 'its document kept changing',
  'not-cleared': 'the client did not clear its context',
  'not-confirmed': 'the fresh context did not take up the document',
  'taken-over': 'somebody else went on in the fresh context',
  'unknown-command': 'the client does not know the command of its recipe',
  'no-recipe': 'its recipe is in the configuration no more',
  uncertain: 'nobody knows whether a prompt arrived',
};

export function failureWords(handoff: Handoff): string {
  const reason = handoff.steps.at(-1)?.reason ?? '';
  const before = handoff.steps.at(-2)?.step ?? 'requested';
  const why = reasons[reason] ?? `it was refused (${shown(reason, 60)})`;
  return `its handoff failed at ${before}: ${why}; document ${shown(handoff.file, 500)}; session before: ${shown(handoff.oldSession, 80)}. ${wayOut(handoff, before)}`;
}

function wayOut({ oldSession, newSession }: Handoff, before: HandoffStep): string {
  if (newSession === null) return `Nothing was cleared: look at it (${before}), or ask again with watchkeeper handoff`;
  return `Its context was cleared: /resume ${shown(oldSession, 80)} brings the old one back, or have it read the document`;
}
